import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { endTogether } from './end-together.ts';
import type { PostgresMeter } from './postgres-usage.ts';

export type LiveTask = {
  readonly url: string;
  readonly turns: number;
  /** Events a second of each turn. */
  readonly rate: number;
  readonly seconds: number;
};

export type Appended = {
  readonly events: number;
  readonly statements: number;
  /** In milliseconds. */
  readonly statementP99: number;
  readonly cpuMs: number;
};

/** Delays in milliseconds, from when an event came to be until its reader had it. */
export type Followed = {
  readonly events: number;
  readonly unordered: number;
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
  readonly cpuMs: number;
};

export type LiveResult = Omit<LiveTask, 'url'> & {
  readonly appended: Appended;
  readonly followed: Followed;
  /** How many processors each of them used. */
  readonly cores: {
    readonly postgres: number;
    readonly appending: number;
    readonly reading: number;
  };
  readonly walBytesPerSecond: number;
};

/** One process appends to many turns at a rate, another one has a reader for each of them. */
export async function measureLive(task: LiveTask, meter: PostgresMeter): Promise<LiveResult> {
  const appending = start('append-turns.ts', task);
  const reading = start('follow-turns.ts', task);
  await answerOf(appending);
  // Of turns that are there.
  reading.send('go');
  await answerOf(reading);
  const before = await meter.usage();
  const began = performance.now();
  appending.send('go');
  const results = [answerOf(appending), answerOf(reading)];
  const [appended, followed] = (await Promise.all(results)) as unknown as [Appended, Followed];
  const tookMs = performance.now() - began;
  const after = await meter.usage();
  const { url: _, ...asked } = task;
  return {
    ...asked,
    appended,
    followed,
    cores: {
      postgres: (after.cpuMs - before.cpuMs) / tookMs,
      appending: appended.cpuMs / tookMs,
      reading: followed.cpuMs / tookMs,
    },
    walBytesPerSecond: ((after.walBytes - before.walBytes) * 1_000) / tookMs,
  };
}

function start(program: string, task: LiveTask): ChildProcess {
  const path = fileURLToPath(new URL(`./programs/${program}`, import.meta.url));
  const child = fork(path, [JSON.stringify(task)], { execArgv: ['--conditions=@orion/source'] });
  endTogether(child);
  return child;
}

async function answerOf(child: ChildProcess): Promise<unknown> {
  const [answer] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => [null]),
  ])) as unknown[];
  if (answer === null) throw new Error('A process of the measurement ended');
  return answer;
}
