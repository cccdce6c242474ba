import type { Clock } from '@orion/contracts';
import type { TimerName } from '@orion/core';

/** The timers of one session, at most one of each name. */
export class SessionTimers {
  readonly #clock: Clock;
  readonly #running = new Map<TimerName, () => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Starts the timer; one of the same name that still runs is cancelled. */
  start(timer: TimerName, milliseconds: number, callback: () => void): void {
    this.cancel(timer);
    this.#running.set(
      timer,
      this.#clock.schedule(milliseconds, () => {
        this.#running.delete(timer);
        callback();
      }),
    );
  }

  cancel(timer: TimerName): void {
    this.#running.get(timer)?.();
    this.#running.delete(timer);
  }

  cancelAll(): void {
    for (const cancel of this.#running.values()) cancel();
    this.#running.clear();
  }
}
