import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { runProgram } from './measure.ts';
import { spreadOf } from './statistics.ts';
import type { Spread } from './statistics.ts';

const PROGRAM = fileURLToPath(new URL('./programs/open-store.ts', import.meta.url));
const BUILT = new URL('../../../packages/trace-store/dist/index.js', import.meta.url).href;

export type OpenResult = {
  /** A file that is not there yet. */
  readonly newMs: Spread;
  /** The usual start. */
  readonly existingMs: Spread;
  /** Loading the package before that, file by file; in the command it is part of one file. */
  readonly loadMs: Spread;
};

type Opened = { readonly loadMs: number; readonly openMs: number };

/** What opening the store adds to a fresh process, by that process's own clock. */
export async function measureOpen(folder: string, runs: number): Promise<OpenResult> {
  const path = join(folder, 'opened.db');
  const open = async (): Promise<Opened> => {
    const { stdout } = await runProgram({ args: [PROGRAM, BUILT, path], folder });
    return JSON.parse(stdout) as Opened;
  };
  await open();
  const created: Opened[] = [];
  const existing: Opened[] = [];
  for (let run = 0; run < runs; run += 1) {
    for (const suffix of ['', '-wal', '-shm']) await rm(`${path}${suffix}`, { force: true });
    created.push(await open());
    existing.push(await open());
  }
  return {
    newMs: spreadOf(created.map(({ openMs }) => openMs)),
    existingMs: spreadOf(existing.map(({ openMs }) => openMs)),
    loadMs: spreadOf(existing.map(({ loadMs }) => loadMs)),
  };
}
