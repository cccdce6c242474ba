import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import { endTogether } from './end-together.ts';

/** What the readers do: with `messages` each begins a turn of that kind, else all read `url`. */
export type LoadTask = {
  readonly url: string;
  readonly token: string;
  readonly name: string;
  readonly streams: number;
  readonly rate: number;
  readonly tokens: number;
  readonly messages: 'talk' | 'write' | null;
  /** Within this time all of them have come. */
  readonly arriveMs: number;
};

/** Delays are from when the model sent a token until a reader had it, in milliseconds. */
export type LoadResult = {
  readonly events: number;
  readonly missing: number;
  readonly unordered: number;
  readonly bytes: number;
  /** Null where no token arrives: the text of a file is not part of its events. */
  readonly p50: number | null;
  readonly p99: number | null;
  readonly most: number | null;
};

export type Usage = { readonly cpuMs: number; readonly residentMiB: number };

const beside = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const TICKS_A_SECOND = 100;

export async function startProgram(
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const child = spawn(process.execPath, args, {
    ...options,
    env: { PATH: process.env['PATH'], ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  endTogether(child);
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-4_000);
  });
  const line = await Promise.race([
    once(child.stdout.setEncoding('utf8'), 'data').then(([text]) => String(text)),
    once(child, 'exit').then(() => null),
  ]);
  if (line === null) throw new Error(`${args.join(' ')} ended: ${errors}`);
  return { child, url: (line.split('\n')[0] ?? '').trim() };
}

export function startTokenProvider(): ReturnType<typeof startProgram> {
  return startProgram(['--conditions=@orion/source', beside('./programs/token-provider.ts')]);
}

export async function runLoad(task: LoadTask): Promise<LoadResult & { readonly wallMs: number }> {
  const program = beside('./programs/sse-load.ts');
  const began = performance.now();
  const child = spawn(
    process.execPath,
    ['--conditions=@orion/source', program, JSON.stringify(task)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`the readers ended with ${code}`);
  return { ...(JSON.parse(text) as LoadResult), wallMs: performance.now() - began };
}

/** What a process has used and holds now, as Linux counts it. */
export async function usageOf({ pid }: ChildProcess): Promise<Usage> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return {
    cpuMs: ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_A_SECOND,
    residentMiB: Number(/VmRSS:\s+(\d+)/u.exec(status)?.[1] ?? 0) / 1024,
  };
}

/** For `startProgram`: the process then tells what it holds. */
export const LIVE_MEMORY: readonly string[] = [
  '--expose-gc',
  '--require',
  beside('./programs/live-memory.cjs'),
];

/** What a process holds when its garbage is collected, in bytes; `file` is its ORION_BENCH_MEMORY. */
export async function liveMemory(child: ChildProcess, file: string): Promise<number> {
  await rm(file, { force: true });
  child.kill('SIGUSR2');
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    const text = await readFile(file, 'utf8').catch(() => null);
    if (text !== null) return Number(text);
  }
}
