import { expect, it } from 'vitest';

import { drawStrikes } from './draw-strikes.ts';

const SEEDS = Array.from({ length: 200 }, (_, seed) => seed);

it('draws the same strikes from the same seed, and others from another', () => {
  expect(drawStrikes(7)).toEqual(drawStrikes(7));
  expect(drawStrikes(7)).not.toEqual(drawStrikes(8));
});

it('draws ten strikes in the order of their moments, each kind once or twice', () => {
  for (const seed of SEEDS) {
    const strikes = drawStrikes(seed);
    const moments = strikes.map(({ atMs }) => atMs);
    expect(moments).toEqual(moments.toSorted((a, b) => a - b));
    const counts = Map.groupBy(strikes, ({ kind }) => kind);
    expect(strikes).toHaveLength(10);
    expect(counts.size).toBe(6);
    expect(Math.max(...[...counts.values()].map(({ length }) => length))).toBe(2);
  }
});
