import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

import { SOURCE_CONDITION } from '../processes.ts';

/** What the runs of some seeds came to: see `RunOutcome`. */
export type SeedsResult = {
  readonly seeds: number;
  readonly turns: number;
  readonly faults: number;
  readonly givenUp: number;
  readonly resets: number;
  readonly longestMs: number;
  /** The seeds that failed. */
  readonly failed: readonly number[];
};

export type SeedRange = { readonly first: number; readonly seeds: number };

const COMMAND = fileURLToPath(new URL('../../simulate.ts', import.meta.url));

/** Shares out seeds among processes, each of which runs one seed after the other: a run keeps one processor busy. */
export async function runInProcesses(
  range: SeedRange,
  { processes, defect }: { readonly processes: number; readonly defect: string | null },
): Promise<SeedsResult> {
  return addUp(
    await Promise.all(shareOut(range, processes).map((share) => runShare(share, defect))),
  );
}

/** Into ranges that follow one another, of which none is empty. */
export function shareOut({ first, seeds }: SeedRange, processes: number): readonly SeedRange[] {
  const parts = Math.min(processes, seeds);
  const begin = (part: number): number => Math.floor((seeds * part) / parts);
  return Array.from({ length: parts }, (_, part) => ({
    first: first + begin(part),
    seeds: begin(part + 1) - begin(part),
  }));
}

export function addUp(results: readonly SeedsResult[]): SeedsResult {
  const sum = (key: 'seeds' | 'turns' | 'faults' | 'givenUp' | 'resets'): number =>
    results.reduce((total, result) => total + result[key], 0);
  return {
    seeds: sum('seeds'),
    turns: sum('turns'),
    faults: sum('faults'),
    givenUp: sum('givenUp'),
    resets: sum('resets'),
    longestMs: Math.max(...results.map(({ longestMs }) => longestMs)),
    failed: results.flatMap(({ failed }) => failed),
  };
}

async function runShare({ first, seeds }: SeedRange, defect: string | null): Promise<SeedsResult> {
  const numbers = ['--processes', '1', '--seed', String(first), '--seeds', String(seeds)];
  const planted = defect === null ? [] : ['--defect', defect];
  const child = spawn(process.execPath, [SOURCE_CONDITION, COMMAND, ...numbers, ...planted], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (line === '') throw new Error(`The seeds from ${first} on ended without a result`);
  return JSON.parse(line) as SeedsResult;
}
