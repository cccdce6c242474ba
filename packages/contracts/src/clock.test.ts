import { expect, test, vi } from 'vitest';
import { sleep } from './clock.ts';
import type { Clock } from './clock.ts';

function createClock() {
  const cancel = vi.fn();
  const schedule = vi.fn<Clock['schedule']>(() => cancel);
  return { clock: { now: () => 0, monotonic: () => 0, schedule }, schedule, cancel };
}

test('a sleep ends when its time is over, and leaves nothing on its signals', async () => {
  const { clock, schedule } = createClock();
  const { signal } = new AbortController();
  const remove = vi.spyOn(signal, 'removeEventListener');
  const sleeping = sleep(clock, 20, signal);
  expect(schedule.mock.calls[0]?.[0]).toBe(20);
  schedule.mock.calls[0]?.[1]();
  await sleeping;
  expect(remove).toHaveBeenCalledOnce();
});

test('any of its signals ends it, and its timer', async () => {
  const { clock, cancel } = createClock();
  const [first, second] = [new AbortController(), new AbortController()];
  const sleeping = sleep(clock, 20, first.signal, second.signal);
  second.abort();
  await sleeping;
  expect(cancel).toHaveBeenCalledOnce();
});

test('nobody sleeps once it is aborted', async () => {
  const { clock, schedule } = createClock();
  await sleep(clock, 20, new AbortController().signal, AbortSignal.abort());
  expect(schedule).not.toHaveBeenCalled();
});
