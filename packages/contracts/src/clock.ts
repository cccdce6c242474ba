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
