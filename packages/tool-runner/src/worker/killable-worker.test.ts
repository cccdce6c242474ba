import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { systemClock } from '@orion/contracts';
import type { Clock } from '@orion/contracts';
import { expect, onTestFinished, test } from 'vitest';

import { KillableWorker } from './killable-worker.ts';
import type { WorkerAnswer } from './killable-worker.ts';

/** Hazard: a thread that does not answer, or that answers another question than it was asked. */

const PROGRAM = `
import { parentPort } from 'node:worker_threads';
let asked = 0;
parentPort.on('message', ({ what, milliseconds = 0 }) => {
  asked += 1;
  if (what === 'loop') for (;;);
  if (what === 'grow') for (const all = []; ; ) all.push(new Array(1_000_000).fill(asked));
  if (what === 'exit') process.exit(0);
  if (what === 'throw') throw new RangeError('thrown');
  if (what === 'environment') return parentPort.postMessage(Object.keys(process.env));
  setTimeout(() => parentPort.postMessage([what, asked]), milliseconds);
});`;
const ENTRY = `data:text/javascript,${encodeURIComponent(PROGRAM)}`;

function start(clock: Clock = systemClock) {
  const worker = new KillableWorker(ENTRY, { maxHeapMib: 32, clock });
  onTestFinished(() => worker.close());
  const ask = (
    what: string,
    { limit = 30_000, signal = new AbortController().signal, milliseconds = 0 } = {},
  ): Promise<WorkerAnswer> =>
    worker.ask(() => Promise.resolve({ what, milliseconds }), { milliseconds: limit, signal });
  return { worker, ask };
}

const answer = (...value: readonly unknown[]): WorkerAnswer => ({ kind: 'answer', value });

test('answers questions one after the other in one thread, which sees no variable', async () => {
  const { worker, ask } = start();
  expect([worker.generation, worker.pending]).toEqual([0, 0]);
  const asked = [ask('slow', { milliseconds: 50 }), ask('quick'), ask('last')];
  expect(worker.pending).toBe(3);
  expect(await Promise.all(asked)).toEqual([
    answer('slow', 1),
    answer('quick', 2),
    answer('last', 3),
  ]);
  expect([worker.generation, worker.pending]).toEqual([1, 0]);
  expect(await ask('environment')).toEqual(answer());
});

test('asks only when the turn of a question has come', async () => {
  const { worker, ask } = start();
  const { signal } = new AbortController();
  const first = ask('loop', { limit: 100 });
  const second = worker.ask(() => Promise.resolve({ what: `${worker.generation}` }), {
    milliseconds: 30_000,
    signal,
  });
  expect(await first).toEqual({ kind: 'stopped', because: 'time' });
  expect(await second).toEqual(answer('2', 1));
});

test('ends a thread that takes too much memory', async () => {
  const { worker, ask } = start();
  expect(await ask('grow')).toEqual({ kind: 'stopped', because: 'memory' });
  expect(await ask('next')).toEqual(answer('next', 1));
  expect(worker.generation).toBe(2);
});

test('ends a thread whose question is aborted, and starts none for one that was aborted before', async () => {
  const { worker, ask } = start();
  const stopped = { kind: 'stopped', because: 'abort' };
  expect(await ask('never', { signal: AbortSignal.abort() })).toEqual(stopped);
  expect(worker.generation).toBe(0);
  const abort = new AbortController();
  const asked = ask('loop', { signal: abort.signal });
  setTimeout(() => abort.abort(), 50);
  expect(await asked).toEqual(stopped);
  expect(await ask('next')).toEqual(answer('next', 1));
  expect(worker.generation).toBe(2);
});

test.each([
  ['exit', 'a worker ended without an answer'],
  ['throw', 'thrown'],
])('rejects for a defect of a thread: %s', async (what, error) => {
  const { worker, ask } = start();
  await expect(ask(what)).rejects.toThrow(error);
  expect(worker.pending).toBe(0);
  expect(await ask('next')).toEqual(answer('next', 1));
  expect(worker.generation).toBe(2);
});

test('rejects as a question does, and goes on with the next one', async () => {
  const { worker, ask } = start();
  const { signal } = new AbortController();
  const failing = (): Promise<unknown> => Promise.reject(new Error('no question'));
  await expect(worker.ask(failing, { milliseconds: 1_000, signal })).rejects.toThrow('no question');
  expect(worker.pending).toBe(0);
  expect(await ask('next')).toEqual(answer('next', 1));
});

test('starts another thread for a question after its end', async () => {
  const { worker, ask } = start();
  await worker.close();
  await ask('one');
  await worker.close();
  expect(await ask('two')).toEqual(answer('two', 1));
  expect(worker.generation).toBe(2);
});

test('takes an answer that came in time although nothing here was looking', async () => {
  const { ask } = start();
  await ask('one');
  const asked = ask('two', { limit: 60 });
  await new Promise(setImmediate);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  expect(await asked).toEqual(answer('two', 2));
});

test('leaves no timer and no listener of a question that was answered', async () => {
  const timers = new Set<symbol>();
  const schedule: Clock['schedule'] = (milliseconds, callback) => {
    const timer = Symbol('timer');
    timers.add(timer);
    const cancel = systemClock.schedule(milliseconds, callback);
    return () => {
      timers.delete(timer);
      cancel();
    };
  };
  const { ask } = start({ ...systemClock, schedule });
  const warnings: unknown[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));
  const { signal } = new AbortController();
  for (let count = 1; count <= 20; count += 1) {
    expect(await ask('next', { signal })).toEqual(answer('next', count));
  }
  expect(timers.size).toBe(0);
  await new Promise(setImmediate);
  expect(warnings).toEqual([]);
});

test('keeps no process alive, but while it is asked', async () => {
  const module = new URL('killable-worker.ts', import.meta.url).href;
  const script = `
    import { systemClock } from '@orion/contracts';
    import { KillableWorker } from '${module}';
    const worker = new KillableWorker(process.argv[1], { maxHeapMib: 32, clock: systemClock });
    const { signal } = new AbortController();
    const asked = worker.ask(() => Promise.resolve({ what: 'slow', milliseconds: 200 }), { milliseconds: 30_000, signal });
    console.log(JSON.stringify(await asked));`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--conditions=@orion/source', '--input-type=module', '-e', script, ENTRY],
    { cwd: import.meta.dirname, timeout: 30_000 },
  );
  expect(JSON.parse(stdout)).toEqual(answer('slow', 1));
}, 40_000);
