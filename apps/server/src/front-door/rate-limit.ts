import type { Clock } from '@orion/contracts';

/** Lets through a number of calls a second, and after a pause twice as many at once. */
export class RateLimit {
  readonly #clock: Clock;
  readonly #perSecond: number;
  #left: number;
  #at: number;

  constructor(clock: Clock, perSecond: number) {
    this.#clock = clock;
    this.#perSecond = perSecond;
    this.#left = 2 * perSecond;
    this.#at = clock.monotonic();
  }

  /** Null if this call may pass, else the whole seconds after which one may. */
  take(): number | null {
    const now = this.#clock.monotonic();
    const gained = ((now - this.#at) / 1000) * this.#perSecond;
    this.#left = Math.min(2 * this.#perSecond, this.#left + gained);
    this.#at = now;
    if (this.#left < 1) return Math.ceil((1 - this.#left) / this.#perSecond);
    this.#left -= 1;
    return null;
  }
}
