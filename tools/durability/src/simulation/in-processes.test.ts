import { expect, test } from 'vitest';

import { addUp, shareOut } from './in-processes.ts';
import type { SeedRange } from './in-processes.ts';

/** Hazard: a seed that no process runs, or a failure that is lost on the way to the result. */

const processes = Array.from({ length: 9 }, (_, index) => index + 1);

test.each(processes)('every seed is run once among %i processes', (count) => {
  for (let seeds = 1; seeds <= 40; seeds += 1) {
    const shares = shareOut({ first: 5, seeds }, count);
    const seedsOf = (share: SeedRange): readonly number[] =>
      Array.from({ length: share.seeds }, (_, index) => share.first + index);
    expect(shares.flatMap(seedsOf)).toEqual(seedsOf({ first: 5, seeds }));
    expect(shares.length).toBe(Math.min(count, seeds));
    const sizes = shares.map((share) => share.seeds);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
  }
});

test('the result has what any process found', () => {
  const quiet = { turns: 3, faults: 4, givenUp: 0, resets: 1 };
  expect(
    addUp([
      { seeds: 2, ...quiet, longestMs: 900, failed: [2] },
      { seeds: 3, ...quiet, longestMs: 100, failed: [] },
      { seeds: 2, turns: 1, faults: 1, givenUp: 5, resets: 0, longestMs: 300, failed: [6, 7] },
    ]),
  ).toEqual({
    seeds: 7,
    turns: 7,
    faults: 9,
    givenUp: 5,
    resets: 2,
    longestMs: 900,
    failed: [2, 6, 7],
  });
});
