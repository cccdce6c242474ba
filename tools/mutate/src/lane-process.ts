// Runs the tests of one mutant after the other, with Vitest and what it has translated kept in memory.
import { join, relative } from 'node:path';

import { mutated } from './mutants.ts';
import type { Mutant } from './mutants.ts';
import { startRunner } from './runner.ts';

export type LaneRequest = { readonly mutant: Mutant; readonly tests: readonly string[] };
export type LaneAnswer = { readonly failure: string | null } | 'ready' | 'file ended';

const [root] = process.argv.slice(2);
if (root === undefined) throw new Error('usage: lane-process <root>');

let current: Mutant | null = null;
const runner = await startRunner({
  root,
  isolate: false,
  workers: 1,
  onFileEnd: () => answer('file ended'),
  load: (path, source) =>
    current !== null && relative(root, path) === current.file ? mutated(source, current) : null,
});

process.on('message', ({ mutant, tests }: LaneRequest) => {
  void notice(mutant, tests).then(answer);
});
process.once('disconnect', () => {
  void runner.vitest.close().finally(() => process.exit());
});
answer('ready');

async function notice(mutant: Mutant, tests: readonly string[]): Promise<LaneAnswer> {
  const file = join(root ?? '', mutant.file);
  current = mutant;
  runner.vitest.invalidateFile(file);
  try {
    const wanted = tests.flatMap((test) => runner.specifications.get(test) ?? []);
    return { failure: await runner.run(wanted) };
  } finally {
    current = null;
    runner.vitest.invalidateFile(file);
  }
}

function answer(message: LaneAnswer): void {
  process.send?.(message);
}
