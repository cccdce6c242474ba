/**
 * Time, passed in wherever something waits or measures, so that tests run on a fake clock.
 *
 * `now` is the wall clock in milliseconds since the epoch and may jump; `monotonic` only grows and is what
 * durations are measured with.
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
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** Waits, but not longer than until one of the signals is aborted; never rejects. */
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
