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

/** Waits, but not longer than until one of the signals is aborted. */
export function sleep(
  clock: Clock,
  milliseconds: number,
  signals: readonly AbortSignal[],
): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      cancel();
      for (const signal of signals) signal.removeEventListener('abort', done);
      resolve();
    };
    const cancel = clock.schedule(milliseconds, done);
    for (const signal of signals) signal.addEventListener('abort', done);
    if (signals.some((signal) => signal.aborted)) done();
  });
}
