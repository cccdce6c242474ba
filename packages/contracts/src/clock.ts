/**
 * A clock, passed in wherever code waits or measures time, so that tests can use a fake one.
 *
 * `now` is the wall clock in milliseconds since the epoch and may jump. `monotonic` never goes back and is used to
 * measure durations.
 */
export interface Clock {
  now(): number;
  monotonic(): number;
  /** Calls `callback` once after `milliseconds`; the returned function cancels it and may be called twice. */
  schedule(milliseconds: number, callback: () => void): () => void;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(milliseconds, callback) {
    // Node warns of a time that is over, on the terminal of whoever runs the program.
    const timer = setTimeout(callback, Math.max(0, milliseconds));
    return () => clearTimeout(timer);
  },
};

/** Longer timers overflow. */
const MAX_TIMER_MS = 2_147_483_647;

export type LimitedSignal = {
  readonly signal: AbortSignal;
  readonly abort: () => void;
  /** Leaves neither a listener nor a timer behind; may be called twice. */
  readonly end: () => void;
};

/**
 * A signal for work that ends with `outer`, by `abort`, or when its time is up; `onTime` is called just before that.
 * Without a clock, or with infinite time, there is no timer.
 */
export function limitedSignal(
  outer: AbortSignal,
  clock?: Clock,
  milliseconds: number = Number.POSITIVE_INFINITY,
  onTime?: () => void,
): LimitedSignal {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(outer.reason);
  if (outer.aborted) onAbort();
  else outer.addEventListener('abort', onAbort, { once: true });
  const isEndless = milliseconds === Number.POSITIVE_INFINITY;
  const timer = Math.min(Math.max(0, milliseconds), MAX_TIMER_MS);
  const onTimer = (): void => {
    onTime?.();
    controller.abort();
  };
  const cancel = isEndless ? undefined : clock?.schedule(timer, onTimer);
  return {
    signal: controller.signal,
    abort: () => controller.abort(),
    end() {
      cancel?.();
      outer.removeEventListener('abort', onAbort);
    },
  };
}

/** Waits until the time is up or one of the signals is aborted. Never rejects. */
export function sleep(
  clock: Clock,
  milliseconds: number,
  ...signals: readonly AbortSignal[]
): Promise<void> {
  if (signals.some((signal) => signal.aborted)) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      for (const signal of signals) signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.schedule(milliseconds, end);
    for (const signal of signals) signal.addEventListener('abort', end);
  });
}
