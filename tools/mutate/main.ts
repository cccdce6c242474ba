import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { readCount } from '@orion/common';

import { readEquivalents, withoutEquivalents } from './src/equivalents.ts';
import { isolationFor } from './src/isolation.ts';
import { mutantsOf, mutated } from './src/mutants.ts';
import type { Mutant } from './src/mutants.ts';
import { formatMutant, formatOutcome, formatReport, formatStale, shareOf } from './src/report.ts';
import { runMutants } from './src/run-mutants.ts';
import { readConfiguration } from './src/runner.ts';
import { sampleOf } from './src/sample.ts';
import { readSources } from './src/sources.ts';
import type { Sources } from './src/sources.ts';
import { survey } from './src/survey.ts';
import { canBeParsed } from './src/syntax.ts';

const { values } = parseArgs({
  options: {
    package: { type: 'string' },
    sample: { type: 'string', default: '100' },
    seed: { type: 'string' },
    /** Only files whose path has this in it. */
    within: { type: 'string', default: '' },
    /** Only these, as a report names them. */
    only: { type: 'string', multiple: true },
    /** Says which ones, and runs none. */
    list: { type: 'boolean', default: false },
    'at-least': { type: 'string', default: '0' },
    lanes: { type: 'string', default: `${Math.min(2, availableParallelism())}` },
  },
});
if (values.package === undefined) {
  throw new Error('usage: npm run mutate -- --package <name> [--sample <n>] [--seed <s>]');
}
const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/[/\\]$/, '');
const seed =
  values.seed === undefined
    ? Math.floor(Math.random() * 1_000_000)
    : readCount('seed', values.seed);

await readConfiguration(root);
const sources = readSources(root, values.package);
const equivalents = readEquivalents().filter(({ file }) => sources.code.has(file));
const { mutants, stale } = withoutEquivalents(allMutants(sources), equivalents);
const chosen = choose(mutants);

if (values.list) {
  process.stdout.write(`${chosen.map(formatMutant).join('\n')}\n`);
} else {
  await run();
}
process.stdout.write(formatStale(stale));
if (stale.length > 0) process.exitCode = 1;

function allMutants({ code }: Sources): readonly Mutant[] {
  return [...code].flatMap(([file, text]) => [...mutantsOf(file, text).mutants]);
}

function choose(all: readonly Mutant[]): readonly Mutant[] {
  const { only } = values;
  if (only !== undefined) {
    const found = all.filter(({ id }) => only.includes(id));
    const missing = only.filter((id) => found.every((mutant) => mutant.id !== id));
    if (missing.length > 0) throw new Error(`No such mutant: ${missing.join(', ')}`);
    return found;
  }
  const within = all.filter(({ file }) => file.includes(values.within));
  const count = readCount('sample', values.sample);
  // A few more, for those that cannot be parsed.
  return sampleOf(within, count * 2, seed)
    .filter((each) => canBeParsed(each.file, mutated(sources.code.get(each.file) ?? '', each)))
    .slice(0, count);
}

async function run(): Promise<void> {
  process.stdout.write(
    `${values.package}: ${chosen.length} of ${mutants.length} mutants, --seed ${seed}\n`,
  );
  const isolation = isolationFor(sources, process.env['PATH']);
  const surveyed = await survey(root, sources);
  const began = performance.now();
  const outcomes = await runMutants({
    root,
    mutants: chosen,
    survey: surveyed,
    lanes: readCount('lanes', values.lanes),
    isolation,
    onOutcome: (outcome) => process.stdout.write(`${formatOutcome(outcome)}\n`),
  });
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  process.stdout.write(`\n${formatReport(outcomes)}\n${seconds} s\n`);
  const wanted = readCount('at-least', values['at-least']);
  if (shareOf(outcomes).percent < wanted) {
    process.stdout.write(`fewer than ${wanted} % were noticed\n`);
    process.exitCode = 1;
  }
}
