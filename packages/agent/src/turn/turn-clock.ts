import type { Clock } from '@orion/contracts';

type Timer = { readonly due: number; readonly callback: () => void; cancel: () => void };

/**
 * The time that a turn takes: its limits do not count what a person takes to decide, nor waits before a request is
 * repeated, nor those for the store. While it stands still, `monotonic` does not change and no timer rings; the wall
 * clock goes on.
 */
export class TurnClock implements Clock {
  readonly #clock: Clock;
  readonly #timers = new Set<Timer>();
  #waits = 0;
  #stoppedAt = 0;
  #stoodStill = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  monotonic(): number {
    return (this.#waits > 0 ? this.#stoppedAt : this.#clock.monotonic()) - this.#stoodStill;
  }

  schedule(milliseconds: number, callback: () => void): () => void {
    const timer = { due: this.monotonic() + milliseconds, callback, cancel: () => undefined };
    this.#timers.add(timer);
    if (this.#waits === 0) this.#start(timer);
    return () => {
      this.#timers.delete(timer);
      timer.cancel();
    };
  }

  /** Stands still until the promise of `wait` settles. */
  async standStill<Value>(wait: () => Promise<Value>): Promise<Value> {
    if (this.#waits === 0) {
      this.#stoppedAt = this.#clock.monotonic();
      for (const timer of this.#timers) timer.cancel();
    }
    this.#waits += 1;
    try {
      return await wait();
    } finally {
      this.#waits -= 1;
      if (this.#waits === 0) {
        this.#stoodStill += this.#clock.monotonic() - this.#stoppedAt;
        for (const timer of this.#timers) this.#start(timer);
      }
    }
  }

  #start(timer: Timer): void {
    timer.cancel = this.#clock.schedule(timer.due - this.monotonic(), () => {
      this.#timers.delete(timer);
      timer.callback();
    });
  }
}
