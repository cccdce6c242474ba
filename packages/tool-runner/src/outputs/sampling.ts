import type { JsonValue } from '@orion/contracts';

import { compile, TraversalError } from './json-path.ts';

export type SamplingMethod = 'random' | 'first' | 'last' | 'systematic' | 'stratified';

export type Sampling = {
  readonly method: SamplingMethod;
  readonly size: number;
  readonly seed: number;
  readonly stride?: number;
  readonly strata_path?: string;
};

/** The places of a sample in its items, which are more than `size`; in no order. */
export function chosen(items: readonly JsonValue[], sampling: Sampling): readonly number[] {
  const { method, size, seed } = sampling;
  const all = [...items.keys()];
  switch (method) {
    case 'first':
      return all.slice(0, size);
    case 'last':
      return all.slice(-size);
    case 'systematic': {
      const stride = sampling.stride ?? Math.max(1, Math.floor(all.length / size));
      return all.filter((index) => index % stride === 0).slice(0, size);
    }
    case 'stratified':
      return stratified(items, sampling);
    default:
      return shuffled(all, randomOf(seed)).slice(0, size);
  }
}

/** As many of each stratum as its share of all, rounded so that they add up: the largest remainders first. */
function stratified(
  items: readonly JsonValue[],
  { strata_path: path, size, seed }: Sampling,
): readonly number[] {
  if (path === undefined) {
    throw new TraversalError(
      'A stratified sample needs strata_path.',
      'Name what distinguishes the items, such as $.type.',
    );
  }
  const query = compile(path);
  const strata = Map.groupBy(items.keys(), (index) =>
    JSON.stringify(query.query(items[index] as never).values()),
  );
  const shares = [...strata.values()].map((indices) => {
    const share = (indices.length * size) / items.length;
    return { indices, whole: Math.floor(share), remainder: share - Math.floor(share) };
  });
  let missing = size - shares.reduce((sum, { whole }) => sum + whole, 0);
  const random = randomOf(seed);
  return shares
    .toSorted((a, b) => b.remainder - a.remainder)
    .flatMap(({ indices, whole }) => {
      const extra = missing > 0 ? 1 : 0;
      missing -= extra;
      return shuffled(indices, random).slice(0, whole + extra);
    });
}

function shuffled(indices: readonly number[], random: () => number): readonly number[] {
  const order = [...indices];
  for (let last = order.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    const kept = order[last] ?? 0;
    order[last] = order[other] ?? 0;
    order[other] = kept;
  }
  return order;
}

/** Numbers from 0 up to, not including, 1; the same ones for the same seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
