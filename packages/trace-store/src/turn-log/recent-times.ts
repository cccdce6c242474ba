import type { Clock } from '@orion/contracts';

/** What ended earlier, in milliseconds, does not count. */
const RECENT_MS = 3_000;
/** The most that are kept, the latest. */
const MOST = 200;

/** How long something lately took. What is under way counts with the time that it has taken so far. */
export class RecentTimes {
  readonly #clock: Clock;
  #ended: { readonly at: number; readonly ms: number }[] = [];
  readonly #begun = new Set<{ readonly at: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async measure<Result>(work: () => Promise<Result>): Promise<Result> {
    const begun = { at: this.#clock.monotonic() };
    this.#begun.add(begun);
    try {
      return await work();
    } finally {
      this.#begun.delete(begun);
      const at = this.#clock.monotonic();
      this.#ended.push({ at, ms: at - begun.at });
      if (this.#ended.length > 2 * MOST) this.#ended = this.#ended.slice(-MOST);
    }
  }

  /** In milliseconds; 0 if there was nothing. `share` is between 0 and 1. */
  percentile(share: number): number {
    const now = this.#clock.monotonic();
    const times: number[] = [];
    for (const { at, ms } of this.#ended.slice(-MOST)) if (now - at < RECENT_MS) times.push(ms);
    for (const { at } of this.#begun) times.push(now - at);
    const sorted = Float64Array.from(times).sort();
    return sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
  }
}
