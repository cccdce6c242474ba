import { systemClock } from '@orion/contracts';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { pauseAfter, WorkerGroup } from './worker-group.ts';
import type { Serving, Worker, WorkerEnd } from './worker-group.ts';

/** Hazard: workers that end are not replaced, or again and again without a pause, and one that hangs stays. */

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const advance = async (milliseconds: number): Promise<void> => {
  await vi.advanceTimersByTimeAsync(milliseconds);
};

type FakeWorker = Worker & {
  readonly signals: NodeJS.Signals[];
  isAnswering: boolean;
  serve(): void;
  end(how?: Partial<WorkerEnd>): void;
};

function fakeWorker(pid: number): FakeWorker {
  const serving = Promise.withResolvers<Serving>();
  const ended = Promise.withResolvers<WorkerEnd>();
  const worker: FakeWorker = {
    pid,
    serving: serving.promise,
    ended: ended.promise,
    signals: [],
    isAnswering: true,
    ask(onAnswer) {
      if (worker.isAnswering) onAnswer();
    },
    signal(signal) {
      worker.signals.push(signal);
      worker.end({ code: signal === 'SIGTERM' ? 0 : null, signal });
    },
    serve: () => serving.resolve({ url: 'http://one', lines: [], link: null }),
    end: (how) => ended.resolve({ code: null, signal: null, ...how }),
  };
  return worker;
}

async function group(count: number, { isServing = true } = {}) {
  const workers: FakeWorker[] = [];
  const said: string[] = [];
  const made = new WorkerGroup({
    clock: systemClock,
    say: (line) => said.push(line),
    fork() {
      const worker = fakeWorker(workers.length + 1);
      workers.push(worker);
      if (isServing) worker.serve();
      return worker;
    },
  });
  const started = made.start(count);
  await advance(0);
  return { workers, said, started, stop: () => made.stop() };
}

it('starts one, and the others when that one serves', async () => {
  const { workers, started } = await group(3, { isServing: false });
  expect(workers).toHaveLength(1);
  workers[0]?.serve();
  await advance(0);
  expect(workers).toHaveLength(3);
  for (const worker of workers) worker.serve();
  expect(await started).toMatchObject({ url: 'http://one' });
});

it('starts no others if it is to stop before the first one serves', async () => {
  const { workers, started, stop } = await group(3, { isServing: false });
  const [first] = workers;
  if (first === undefined) throw new Error('no worker');
  // As a worker does that hears of it while it starts: it serves, and then ends.
  first.signal = (signal) => void first.signals.push(signal);
  const stopped = stop();
  first.serve();
  await advance(0);
  expect(workers).toHaveLength(1);
  first.end({ code: 0 });
  expect(await started).toEqual({ code: 0, signal: null });
  expect(await stopped).toEqual([{ code: 0, signal: null }]);
});

it('starts none anew while it starts, and says how that one ended', async () => {
  const { workers, started, stop } = await group(2, { isServing: false });
  workers[0]?.serve();
  await advance(0);
  workers[1]?.end({ code: 4 });
  expect(await started).toEqual({ code: 4, signal: null });
  await advance(60_000);
  await stop();
  expect(workers).toHaveLength(2);
  expect(workers[0]?.signals).toEqual(['SIGTERM']);
});

it('replaces what ends, later and later while none lives for long', async () => {
  const { workers, said } = await group(1);
  for (const pause of [500, 1_000, 2_000]) {
    const { length } = workers;
    workers.at(-1)?.end({ signal: 'SIGKILL' });
    await advance(pause - 1);
    expect(workers).toHaveLength(length);
    await advance(1);
    expect(workers).toHaveLength(length + 1);
  }
  expect(said.at(-1)).toBe('The worker 3 ended (SIGKILL). Another one starts in 2 s.');
  workers.at(-1)?.end({});
  await advance(0);
  expect(said.at(-1)).toBe('A worker could not be started. Another one starts in 4 s.');
  expect(pauseAfter(9_999, 20_000)).toBe(30_000);
  expect(pauseAfter(10_000, 20_000)).toBe(500);
});

it('kills what does not answer five times, and nobody that was not asked', async () => {
  const { workers } = await group(2);
  const [silent, other] = workers;
  if (silent === undefined || other === undefined) throw new Error('two workers');
  silent.isAnswering = false;
  await advance(4_000);
  silent.isAnswering = true;
  await advance(1_000);
  // The machine slept: nobody was asked.
  vi.setSystemTime(Date.now() + 3_600_000);
  silent.isAnswering = false;
  await advance(5_999);
  expect(silent.signals).toEqual([]);
  await advance(1);
  expect(silent.signals).toEqual(['SIGKILL']);
  expect(other.signals).toEqual([]);
});

it('stops all, and starts none after that', async () => {
  const { workers, stop } = await group(2);
  workers[0]?.end({ code: 1 });
  await advance(100);
  expect(await stop()).toEqual([{ code: 0, signal: 'SIGTERM' }]);
  await advance(60_000);
  expect(workers).toHaveLength(2);
});
