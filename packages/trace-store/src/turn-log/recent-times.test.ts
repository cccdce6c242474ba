import { createFakeClock } from '@orion/testkit';
import { expect, test } from 'vitest';
import { RecentTimes } from './recent-times.ts';

/** Hazard: a store that is slow is given more to do, or one that was slow for a moment is given nothing any more. */

test('the slow ones of the last seconds count, and what hangs, but not one of many', async () => {
  const clock = createFakeClock();
  const times = new RecentTimes(clock);
  const take = (ms: number): Promise<void> =>
    times.measure(async () => {
      await clock.advance(ms);
    });
  expect(times.percentile(0.99)).toBe(0);
  await take(1_500);
  await expect(times.measure(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(times.percentile(0.99)).toBe(1_500);
  for (let count = 0; count < 120; count += 1) await take(1);
  expect(times.percentile(0.99)).toBe(1);
  await clock.advance(3_000);
  expect(times.percentile(0.99)).toBe(0);
  const { promise, resolve } = Promise.withResolvers<void>();
  const hanging = times.measure(() => promise);
  await clock.advance(2_000);
  expect(times.percentile(0.99)).toBe(2_000);
  for (let count = 0; count < 500; count += 1) await take(0);
  resolve();
  await hanging;
  expect(times.percentile(1)).toBe(2_000);
});
