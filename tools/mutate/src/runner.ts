import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';

import type { Plugin, ViteUserConfig } from 'vitest/config';
import { createVitest } from 'vitest/node';
import type {
  InlineConfig,
  Reporter,
  TestCase,
  TestModule,
  TestSpecification,
  Vitest,
} from 'vitest/node';

/** Enough for a test that passes on a busy machine; each one that waits for ever costs this much. */
const TEST_LIMIT_MS = 12_000;
/** Instrumented, nothing waits for ever. */
const SURVEY_TEST_LIMIT_MS = 120_000;
/** A mutant that never stops collecting ends here instead of taking the machine's memory. */
const HEAP_MB = 512;

export type RunnerOptions = {
  readonly root: string;
  /** What becomes of a source file on its way into the tests; null leaves it alone. */
  readonly load: (file: string, source: string) => string | null;
  /** Test files have a process each, so that each of them loads everything anew. */
  readonly isolate: boolean;
  readonly setupFiles?: readonly string[];
  readonly workers: number;
  readonly onFileEnd?: () => void;
};

export type Runner = {
  readonly vitest: Vitest;
  /** By path. */
  readonly specifications: ReadonlyMap<string, TestSpecification>;
  /** What fails first, in a few words; null when everything passes. */
  readonly run: (tests: readonly TestSpecification[]) => Promise<string | null>;
};

/** Vitest as the repository configures its unit tests, kept in memory, with files that differ from those on disk. */
export async function startRunner(options: RunnerOptions): Promise<Runner> {
  const { root, isolate, workers } = options;
  const { resolve, ssr, unit } = await readConfiguration(root);
  const plugin: Plugin = {
    name: 'orion-mutate',
    enforce: 'pre',
    transform: (source, id) => options.load(id.split('?')[0] ?? id, source),
  };
  const failures = new Failures(options.onFileEnd);
  const vitest = await createVitest(
    'test',
    {
      ...unit,
      root,
      config: false,
      watch: false,
      // A changed file must not be kept on disk, nor an unchanged one be taken from there.
      fsModuleCache: false,
      isolate,
      bail: isolate ? 0 : 1,
      testTimeout: isolate ? SURVEY_TEST_LIMIT_MS : TEST_LIMIT_MS,
      maxWorkers: workers,
      fileParallelism: workers > 1,
      execArgv: [`--max-old-space-size=${HEAP_MB}`],
      setupFiles: [...[unit.setupFiles ?? []].flat(), ...(options.setupFiles ?? [])],
      sequence: { sequencer: InGivenOrder },
      reporters: [failures],
    },
    { resolve, ssr, plugins: [plugin], logLevel: 'error' },
  );
  await vitest.standalone();
  const found = await vitest.globTestSpecifications();
  return {
    vitest,
    specifications: new Map(found.map((each) => [relative(root, each.moduleId), each])),
    run: async (tests) => {
      failures.first = null;
      await vitest.runTestSpecifications([...tests]);
      return failures.first;
    },
  };
}

/** Listens, since the result of a run also has what files that it left out have shown in an earlier one. */
class Failures implements Reporter {
  first: string | null = null;
  readonly #onFileEnd: RunnerOptions['onFileEnd'];

  constructor(onFileEnd: RunnerOptions['onFileEnd']) {
    this.#onFileEnd = onFileEnd;
  }

  onTestCaseResult(test: TestCase): void {
    const { state, errors = [] } = test.result();
    if (state !== 'failed') return;
    const why = errors[0]?.message.split('\n')[0]?.slice(0, 120) ?? '';
    this.first ??= `${test.module.relativeModuleId}: ${test.fullName} (${why})`;
  }

  onTestModuleEnd(module: TestModule): void {
    this.#onFileEnd?.();
    if (module.state() !== 'failed') return;
    this.first ??= `${module.relativeModuleId}: could not be run`;
  }

  onTestRunEnd(_: unknown, [error]: readonly { readonly message: string }[]): void {
    if (error !== undefined) this.first ??= `error outside of a test: ${error.message}`;
  }
}

class InGivenOrder {
  sort(files: TestSpecification[]): TestSpecification[] {
    return files;
  }
  shard(files: TestSpecification[]): TestSpecification[] {
    return files;
  }
}

type Conditions = Required<Pick<ViteUserConfig, 'resolve' | 'ssr'>>;
type Configuration = Conditions & {
  readonly test: Required<Pick<InlineConfig, 'tags'>> & {
    readonly projects: readonly { readonly test: InlineConfig }[];
  };
};

/**
 * Read as a module, since plugins are not handed on to projects that Vitest reads from a file. That also puts the
 * temporary folder into memory where there is room for it. No test is left out: a mutant may be what only a long one
 * notices.
 */
export async function readConfiguration(
  root: string,
): Promise<Conditions & { readonly unit: InlineConfig }> {
  process.env['ORION_EVERY_TEST'] = '1';
  const { default: configuration } = (await import(
    pathToFileURL(join(root, 'vitest.config.ts')).href
  )) as { default: Configuration };
  const unit = configuration.test.projects.find(({ test }) => test.name === 'unit')?.test;
  if (unit === undefined) throw new Error('vitest.config.ts has no project of unit tests');
  const { name: _, maxWorkers: __, ...rest } = unit;
  const { resolve, ssr, test } = configuration;
  return { resolve, ssr, unit: { ...rest, tags: test.tags } };
}
