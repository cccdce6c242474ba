/** A small generator of uniform numbers in [0, 1): the same seed gives the same sequence everywhere. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

export type Sizes = number | readonly number[] | { readonly min: number; readonly max: number };

/** Returns the next size: always the same one, a random one between two, or the next of a list. */
export function createSizes(sizes: Sizes, seed: number): () => number {
  if (typeof sizes === 'number') return () => sizes;
  if (isList(sizes)) {
    let place = 0;
    return () => sizes[Math.min(place++, sizes.length - 1)] ?? 1;
  }
  const random = createRandom(seed);
  const span = sizes.max - sizes.min + 1;
  return () => sizes.min + Math.floor(random() * span);
}

function isList(sizes: Sizes): sizes is readonly number[] {
  return Array.isArray(sizes);
}
