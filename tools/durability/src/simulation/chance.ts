/** Numbers that follow from a seed (mulberry32). Two sources of one seed give the same. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** In [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number, both ends included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  isLikely(probability: number): boolean {
    return this.next() < probability;
  }

  /** Throws for a list without anything. */
  of<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.next() * items.length)];
    if (item === undefined) throw new Error('There is nothing to choose from');
    return item;
  }

  /** Another source, which this one decides. */
  split(): Chance {
    return new Chance(Math.floor(this.next() * 2 ** 32));
  }
}
