import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { measureTime } from './measure.ts';
import type { Provider } from './provider.ts';
import { spreadOf } from './statistics.ts';
import type { Spread } from './statistics.ts';

export type StartResult = {
  readonly nothingMs: Spread;
  readonly versionMs: Spread;
  readonly sentenceMs: Spread;
  /** Medians of the differences of neighbouring runs. */
  readonly versionOverMs: Spread;
  readonly sentenceOverMs: Spread;
};

export type StartOptions = {
  readonly runs: number;
  readonly command: string;
  readonly provider: Provider;
  readonly folder: string;
};

/** What the command costs before it does anything: beside a Node that does nothing at all. */
export async function compareStart(options: StartOptions): Promise<StartResult> {
  const { runs, command, provider, folder } = options;
  const workspace = join(folder, 'workspace');
  await mkdir(workspace);
  const sentence = [
    command,
    'run',
    'Say one sentence.',
    `--cwd=${workspace}`,
    `--base-url=${provider.url}`,
    '--model=scripted',
  ];
  const version = [command, '--version'];
  const time = (args: readonly string[]): Promise<number> => measureTime({ args, folder });
  // The first ones fill Node's compile cache.
  await time(version);
  await time(sentence);

  const nothing: number[] = [];
  const versions: number[] = [];
  const sentences: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    nothing.push(await time(['-e', '0']));
    versions.push(await time(version));
    sentences.push(await time(sentence));
  }
  await rm(workspace, { recursive: true });
  const over = (values: readonly number[]): Spread =>
    spreadOf(values.map((value, run) => value - (nothing[run] ?? 0)));
  return {
    nothingMs: spreadOf(nothing),
    versionMs: spreadOf(versions),
    sentenceMs: spreadOf(sentences),
    versionOverMs: over(versions),
    sentenceOverMs: over(sentences),
  };
}
