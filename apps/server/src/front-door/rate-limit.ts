import type { Clock } from '@orion/contracts';

/** Lets through a number of calls a second, and after a pause so many at once: twice as many when left out. */
export class RateLimit {
  readonly #clock: Clock;
  readonly #perSecond: number;
  readonly #burst: number;
  #left: number;
  #at: number;

  constructor(clock: Clock, perSecond: number, burst: number = 2 * perSecond) {
    this.#clock = clock;
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#left = burst;
    this.#at = clock.monotonic();
  }

  /** Null if this call may pass, else the whole seconds after which one may. */
  take(): number | null {
    const now = this.#clock.monotonic();
    const gained = ((now - this.#at) / 1000) * this.#perSecond;
    this.#left = Math.min(this.#burst, this.#left + gained);
    this.#at = now;
    if (this.#left < 1) return Math.ceil((1 - this.#left) / this.#perSecond);
    this.#left -= 1;
    return null;
  }
}
