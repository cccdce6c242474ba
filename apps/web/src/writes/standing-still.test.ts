import { expect, it } from 'vitest';

import { isStandingStill, nextStill, stillSince } from './standing-still.ts';

/** Hazard: a disk that confirms nothing looks like one that works, or one that works like a dead one. */

type Moment = readonly [at: number, received: number, synced: number];

function standsStill(moments: readonly Moment[]): readonly boolean[] {
  let still = stillSince({ received: 0, synced: 0 }, 0);
  return moments.map(([at, received, synced]) => {
    const marks = { received, synced };
    still = nextStill(still, marks, at);
    return isStandingStill(still, marks, at);
  });
}

it('the disk stands still when text arrives and nothing of it is confirmed for 15 s', () => {
  expect(
    standsStill([
      [1000, 10, 0],
      [15_999, 20, 0],
      [16_000, 30, 0],
      [17_000, 40, 40],
    ]),
  ).toEqual([false, false, true, false]);
});

it('a model that pauses, a disk that follows, and text that is all confirmed are none of that', () => {
  expect(
    standsStill([
      [0, 10, 0],
      [60_000, 10, 0],
      [61_000, 20, 10],
      [70_000, 30, 20],
      [79_000, 40, 40],
      [200_000, 50, 40],
      [205_000, 60, 40],
    ]),
  ).toEqual([false, false, false, false, false, false, false]);
});

it('is the same while nothing happens: a view that keeps it would draw itself for ever', () => {
  for (const marks of [
    { received: 0, synced: 0 },
    { received: 10, synced: 10 },
    { received: 10, synced: 5 },
  ]) {
    const still = stillSince(marks, 0);
    expect(nextStill(still, marks, 1)).toBe(still);
  }
});

it('text that is taken back is another text', () => {
  expect(
    standsStill([
      [0, 100, 0],
      [10_000, 50, 0],
      [20_000, 60, 0],
      [25_000, 70, 0],
    ]),
  ).toEqual([false, false, false, true]);
});
