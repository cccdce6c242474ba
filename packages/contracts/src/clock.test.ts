import { expect, test, vi } from 'vitest';
import { limitedSignal, sleep, systemClock } from './clock.ts';
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

test('a sleep with an aborted signal ends at once', async () => {
  const { clock, schedule } = createClock();
  await sleep(clock, 20, new AbortController().signal, AbortSignal.abort());
  expect(schedule).not.toHaveBeenCalled();
});

test('a limited signal ends with its outer one, by a word, or when its time is up', async () => {
  const { clock, schedule, cancel } = createClock();
  const outer = new AbortController();
  const onTime = vi.fn();
  const limited = () => limitedSignal(outer.signal, clock, 20, onTime);
  const timed = limited();
  expect(schedule.mock.calls[0]?.[0]).toBe(20);
  schedule.mock.calls[0]?.[1]();
  expect(onTime).toHaveBeenCalledOnce();
  expect(timed.signal.aborted).toBe(true);

  const left = limited();
  left.abort();
  expect(left.signal.aborted).toBe(true);
  expect(outer.signal.aborted).toBe(false);

  const [followed, ended] = [limited(), limited()];
  ended.end();
  expect(cancel).toHaveBeenCalledOnce();
  outer.abort('gone');
  expect(followed.signal.reason).toBe('gone');
  expect(ended.signal.aborted).toBe(false);
  expect(limited().signal.reason).toBe('gone');
  expect(onTime).toHaveBeenCalledOnce();
});

test('a time that no timer can wait for is waited for as long as one can', () => {
  const { clock, schedule } = createClock();
  const { signal } = new AbortController();
  for (const milliseconds of [-1, 2_147_483_648]) limitedSignal(signal, clock, milliseconds);
  expect(schedule.mock.calls.map(([milliseconds]) => milliseconds)).toEqual([0, 2_147_483_647]);
  for (const ofClock of [undefined, clock]) limitedSignal(signal, ofClock);
  limitedSignal(signal, undefined, 20);
  expect(schedule).toHaveBeenCalledTimes(2);
});

test('a time that is over, however long, is none to warn of', async () => {
  const warned = vi.fn();
  process.on('warning', warned);
  await new Promise<void>((resolve) => void systemClock.schedule(-Infinity, resolve));
  await new Promise<void>((resolve) => void systemClock.schedule(-1, resolve));
  process.off('warning', warned);
  expect(warned).not.toHaveBeenCalled();
});
