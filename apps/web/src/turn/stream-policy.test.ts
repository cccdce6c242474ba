import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  HELD_BACK_MS,
  isSilent,
  pauseBeforePoll,
  pauseBeforeRetry,
  POLLING_MS,
  pollUntil,
  SILENT_MS,
} from './stream-policy.ts';

/** Hazard: a tab that gives up, hammers its server, or waits for ever on a way that brings nothing. */

describe('the pause before the next try', () => {
  it('grows from a quarter of a second to ten seconds, and no further', () => {
    const pauses = [0, 1, 2, 3, 4, 5, 6, 500].map((failures) => pauseBeforeRetry(failures, 1));
    expect(pauses).toEqual([250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
  });

  it('differs by chance, by half of it at most', () => {
    fc.assert(
      fc.property(fc.nat(2000), fc.double({ min: 0, max: 1, noNaN: true }), (failures, chance) => {
        const pause = pauseBeforeRetry(failures, chance);
        const longest = pauseBeforeRetry(failures, 1);
        expect(pause).toBeGreaterThanOrEqual(longest / 2);
        expect(pause).toBeLessThanOrEqual(longest);
        expect(pause).toBeCloseTo(longest / 2 + (longest / 2) * chance);
      }),
    );
  });

  it('is as long as the server asks for', () => {
    expect(pauseBeforeRetry(0, 0.5, 3000)).toBe(3000);
    expect(pauseBeforeRetry(3, 1, 1999)).toBe(2000);
  });
});

it('a tab that polls asks at once while there is news, and every two seconds while there is none', () => {
  expect([0, 1, 2, 3, 4, 100].map(pauseBeforePoll)).toEqual([250, 500, 1000, 2000, 2000, 2000]);
});

it('silence is fifteen seconds, to the millisecond', () => {
  expect(SILENT_MS).toBe(15_000);
  expect([isSilent(1000, 15_999), isSilent(1000, 16_000)]).toEqual([false, true]);
});

describe('a stream that ended', () => {
  const end = (ended: number, heard: number | null) => pollUntil({ opened: 1000, ended, heard });

  it('is opened again when it was cut, however long it was', () => {
    expect([end(1001, null), end(99_000, 98_000), end(1000 + HELD_BACK_MS - 1, null)]).toEqual([
      0, 0, 0,
    ]);
  });

  it('is not opened again for a minute when nothing came, or nothing came any more', () => {
    const first = 1000 + HELD_BACK_MS;
    expect(end(first, null)).toBe(first + POLLING_MS);
    expect([end(9000 + SILENT_MS - 1, 9000), end(9000 + SILENT_MS, 9000)]).toEqual([
      0,
      9000 + SILENT_MS + POLLING_MS,
    ]);
  });

  it('had bytes whose silence is measured from the last of them, not from its beginning', () => {
    expect(end(9000 + HELD_BACK_MS, 9000)).toBe(0);
  });
});
