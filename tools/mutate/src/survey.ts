import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

import { instrument } from './instrument.ts';
import { mutantsOf } from './mutants.ts';
import { startRunner } from './runner.ts';
import type { Sources } from './sources.ts';

/** What the package's own tests reach while nothing is changed. */
export type Survey = {
  readonly tests: readonly {
    readonly test: string;
    readonly ms: number;
    readonly reached: readonly string[];
  }[];
};

/**
 * Runs all tests of the package once, instrumented, each file in a process of its own, so that what is loaded counts
 * for everyone who loads it. Kept under a name that follows from the contents of the package.
 */
export async function survey(root: string, sources: Sources): Promise<Survey> {
  const folder = join(root, 'node_modules', '.cache', 'orion-mutate');
  const kept = join(folder, `${sources.package}-${hashOf(sources)}.json`);
  try {
    return JSON.parse(await readFile(kept, 'utf8')) as Survey;
  } catch {
    const made = await runSurvey(root, sources);
    await mkdir(folder, { recursive: true });
    await writeFile(`${kept}.${process.pid}`, JSON.stringify(made));
    await rename(`${kept}.${process.pid}`, kept);
    return made;
  }
}

/** Counted up where the meaning of a survey changes. */
const FORM = 1;

function hashOf(sources: Sources): string {
  const hash = createHash('sha256').update(`${FORM}`);
  for (const [file, text] of [...sources.code, ...sources.tests]) {
    hash.update(`${file}\0${text}\0`);
  }
  return hash.digest('hex').slice(0, 16);
}

async function runSurvey(root: string, sources: Sources): Promise<Survey> {
  const folder = await mkdtemp(join(tmpdir(), 'orion-mutate-reached-'));
  process.env['ORION_MUTATE_REACHED'] = folder;
  const runner = await startRunner({
    root,
    isolate: true,
    workers: 2,
    setupFiles: [fileURLToPath(new URL('reach-setup.ts', import.meta.url))],
    load: (path) => {
      const file = relative(root, path);
      const source = sources.code.get(file);
      return source === undefined ? null : instrument(file, source, mutantsOf(file, source).probes);
    },
  });
  try {
    const wanted = [...runner.specifications].filter(([test]) => sources.tests.has(test));
    const failure = await runner.run(wanted.map(([, specification]) => specification));
    if (failure !== null) throw new Error(`Fails without any change: ${failure}`);
    const times = new Map(
      runner.vitest.state
        .getTestModules()
        .map((module) => [module.moduleId, module.diagnostic().duration]),
    );
    const names = await readdir(folder);
    const read = names.map(async (name) => {
      const text = await readFile(join(folder, name), 'utf8');
      const { test, reached } = JSON.parse(text) as { test: string; reached: string[] };
      return { test: relative(root, test), ms: times.get(test) ?? 0, reached };
    });
    return { tests: await Promise.all(read) };
  } finally {
    await runner.vitest.close();
    await rm(folder, { recursive: true, force: true });
  }
}
