/** What a process of the server uses, seen from outside. */
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import type { Preload, Served } from '../served-turns/stage.ts';

export type Sample = {
  readonly seconds: number;
  readonly rssKb: number;
  readonly descriptors: number;
  /** Of the log that SQLite writes ahead; 0 on Postgres. */
  readonly walKb: number;
  readonly turns: number;
};

/** On Linux only: what is read is `/proc`. */
export async function takeSample(
  pid: number,
  workspace: string,
  facts: Pick<Sample, 'seconds' | 'turns'>,
): Promise<Sample> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const [, rss = '0'] = /^VmRSS:\s+(\d+) kB$/mu.exec(status) ?? [];
  const descriptors = await readdir(`/proc/${pid}/fd`);
  const wal = await stat(join(workspace, '.orion', 'orion.db-wal')).catch(() => null);
  return {
    ...facts,
    rssKb: Number(rss),
    descriptors: descriptors.length,
    walKb: Math.round((wal?.size ?? 0) / 1024),
  };
}

/**
 * What the process holds when its garbage is collected. The resident memory alone says little: how much of its heap the
 * engine keeps for garbage depends on the load of the machine.
 */
export type LiveSample = {
  readonly seconds: number;
  /** In the heap, and what its objects hold outside of it. */
  readonly liveKb: number;
  /** Resident and not of the heap: what native code has allocated, and the program itself. */
  readonly nativeKb: number;
};

export function liveMemory(file: string): Preload {
  return {
    module: new URL('./preload/live-memory.ts', import.meta.url),
    environment: { ORION_MEMORY_FILE: file },
  };
}

/** Of a server that was started with `liveMemory`. */
export async function takeLiveSample(
  served: Served,
  file: string,
  seconds: number,
): Promise<LiveSample> {
  await rm(file, { force: true });
  served.signal('SIGUSR2');
  let text: string | null = null;
  while (text === null) {
    await wait(LOOK_MS);
    text = await readFile(file, 'utf8').catch(() => null);
  }
  const { rss, heapTotal, heapUsed, external } = JSON.parse(text) as NodeJS.MemoryUsage;
  return { seconds, liveKb: (heapUsed + external) / 1024, nativeKb: (rss - heapTotal) / 1024 };
}

const LOOK_MS = 20;

/** The slope of the line that fits best, in units a minute. */
export function slopePerMinute<Each extends { readonly seconds: number }>(
  samples: readonly Each[],
  valueOf: (sample: Each) => number,
): number {
  const meanX = mean(samples.map(({ seconds }) => seconds));
  const meanY = mean(samples.map(valueOf));
  let above = 0;
  let below = 0;
  for (const sample of samples) {
    above += (sample.seconds - meanX) * (valueOf(sample) - meanY);
    below += (sample.seconds - meanX) ** 2;
  }
  return below === 0 ? 0 : (above / below) * 60;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
}
