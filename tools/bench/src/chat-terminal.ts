import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import * as pty from '@lydell/node-pty';

/** What a program on a pseudo-terminal took. */
export type ChatFigures = {
  /** Until something typed was in the line that is edited. */
  readonly promptMs: number;
  /** Of the processor, until then. */
  readonly promptCpuMs: number;
  /** While the lines were streamed. */
  readonly streamCpuMs: number;
  /** From the start of the process to its end. */
  readonly cpuMs: number;
  readonly peakMiB: number;
  readonly writtenKB: number;
};

export type ChatProgram = {
  readonly args: readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** What is shown once it can be typed to; `x` was typed before. */
  readonly ready: string;
  /** The last line that is streamed. */
  readonly lastLine: string;
};

const PRELOAD = fileURLToPath(new URL('./programs/usage.cjs', import.meta.url));
const LIMIT_MS = 60_000;

/** Starts it, types a letter and Enter, waits for the streamed lines, and leaves with Ctrl-D. */
export async function measureChat(program: ChatProgram): Promise<ChatFigures> {
  const usage = join(program.folder, 'usage.json');
  const startedAt = performance.now();
  const child = pty.spawn(process.execPath, [`--require=${PRELOAD}`, ...program.args], {
    name: 'xterm-256color',
    cols: 80,
    rows: 24,
    cwd: program.folder,
    env: { ...program.environment, ORION_BENCH_USAGE: usage },
  });
  let output = '';
  let wake = (): void => undefined;
  child.onData((text) => {
    output += text;
    wake();
  });
  const ended = new Promise<void>((resolve) => {
    child.onExit(() => resolve());
  });
  const limit = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  const shown = async (text: string): Promise<void> => {
    while (!output.includes(text)) {
      await Promise.race([new Promise<void>((resolve) => (wake = resolve)), ended]);
      if (!output.includes(text) && (await isOver(child.pid))) {
        throw new Error(`the program ended without ${text}:\n${output.slice(-2000)}`);
      }
    }
  };
  child.write('x');
  await shown(program.ready);
  const promptMs = performance.now() - startedAt;
  const promptCpuMs = await usedMs(child.pid);
  child.write('\r');
  await shown(program.lastLine);
  const streamCpuMs = (await usedMs(child.pid)) - promptCpuMs;
  const writtenKB = Buffer.byteLength(output) / 1000;
  child.write('\u007F\u0004');
  await ended;
  clearTimeout(limit);
  const { cpuMs, peakKiB } = JSON.parse(await readFile(usage, 'utf8')) as {
    readonly cpuMs: number;
    readonly peakKiB: number;
  };
  await rm(usage);
  return { promptMs, promptCpuMs, streamCpuMs, cpuMs, peakMiB: peakKiB / 1024, writtenKB };
}

/** Time of the processor that the threads of a process have used; Linux counts it in nanoseconds. */
async function usedMs(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`);
  const times = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8')),
  );
  return times.reduce((sum, time) => sum + Number(time.split(' ')[0]), 0) / 1e6;
}

async function isOver(pid: number): Promise<boolean> {
  return (await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')) === '';
}
