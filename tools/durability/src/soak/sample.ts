/** What a process of the server uses, seen from outside. */
import { readdir, readFile, rm } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import type { HeapCodeStatistics } from 'node:v8';

import type { Preload } from '../served-turns/stage.ts';

/** A process that lives as long as the run. */
export type WatchedProcess = {
  readonly name: string;
  readonly pid: number;
  readonly samples: Sample[];
  readonly lives: LiveSample[];
};

export type Sample = {
  readonly seconds: number;
  readonly rssKb: number;
  readonly descriptors: number;
};

/** On Linux only: what is read is `/proc`. Rejects if the process is gone. */
export async function takeSample(pid: number, seconds: number): Promise<Sample> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const [, rss = '0'] = /^VmRSS:\s+(\d+) kB$/mu.exec(status) ?? [];
  const descriptors = await readdir(`/proc/${pid}/fd`);
  return { seconds, rssKb: Number(rss), descriptors: descriptors.length };
}

/**
 * What the process holds when its garbage is collected. The resident memory alone says little: how much of its heap the
 * engine keeps for garbage depends on the load of the machine.
 */
export type LiveSample = {
  readonly seconds: number;
  /** In the heap, and what its objects hold outside of it, without compiled code. */
  readonly liveKb: number;
  /** Code that the engine has compiled: the more, the longer each place has been in use. */
  readonly codeKb: number;
  /** Resident and not of the heap: what native code has allocated, and the program itself. */
  readonly nativeKb: number;
};

type MemoryOfProcess = NodeJS.MemoryUsage & HeapCodeStatistics;

export function liveMemory(file: string): Preload {
  return {
    module: new URL('./preload/live-memory.ts', import.meta.url),
    environment: { ORION_MEMORY_FILE: file },
  };
}

/** Of a process that was started with `liveMemory`, or by one that was. */
export async function takeLiveSample(
  pid: number,
  memoryFile: string,
  seconds: number,
): Promise<LiveSample> {
  const file = `${memoryFile}.${pid}`;
  await rm(file, { force: true });
  process.kill(pid, 'SIGUSR2');
  let text: string | null = null;
  while (text === null) {
    await wait(LOOK_MS);
    // Rejects if the process is gone.
    process.kill(pid, 0);
    text = await readFile(file, 'utf8').catch(() => null);
  }
  const { rss, heapTotal, heapUsed, external, ...compiled } = JSON.parse(text) as MemoryOfProcess;
  const code = compiled.code_and_metadata_size + compiled.bytecode_and_metadata_size;
  return {
    seconds,
    liveKb: (heapUsed + external - code) / 1024,
    codeKb: code / 1024,
    nativeKb: (rss - heapTotal) / 1024,
  };
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
