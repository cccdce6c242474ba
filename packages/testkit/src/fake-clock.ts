import type { Clock } from '@orion/contracts';

/**
 * A clock that does not move until a test advances it.
 *
 * 1. Timers run in the order of their due times; those due at the same time run in the order in which they were set.
 * 2. While a timer runs, both clocks show its due time.
 * 3. Before the first timer, between two timers and after the last one, code that waits for a promise continues, so
 *    that a timer set by such code runs in the same `advance` if it is due.
 */
export interface FakeClock extends Clock {
  /** Advances both clocks. If a timer throws, the returned promise rejects, and later timers stay pending. */
  advance(milliseconds: number): Promise<void>;
  /** Moves only the wall clock, forwards or backwards, as when a person sets the time. */
  jump(milliseconds: number): void;
  /** Timers that have neither run nor been cancelled. */
  pending(): number;
}

/** Bound here, so that a test that replaces the global timers does not stop this clock. */
const nextMacrotask: (callback: () => void) => unknown = setImmediate;

/** Lets code that waits for settled promises continue. */
function settle(): Promise<void> {
  return new Promise((resolve) => {
    nextMacrotask(() => {
      resolve();
    });
  });
}

type Timer = { readonly due: number; readonly order: number; readonly callback: () => void };

/** `start` is the wall clock in milliseconds since the epoch; the monotonic clock starts at 0. */
export function createFakeClock(start: number = Date.UTC(2026, 0, 1)): FakeClock {
  let elapsed = 0;
  let wallOffset = start;
  let made = 0;
  const timers = new Set<Timer>();

  function nextDue(limit: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of timers) {
      if (timer.due > limit) continue;
      if (next === undefined || timer.due < next.due) next = timer;
      else if (timer.due === next.due && timer.order < next.order) next = timer;
    }
    return next;
  }

  return {
    now: () => wallOffset + elapsed,
    monotonic: () => elapsed,
    schedule(milliseconds, callback) {
      if (Number.isNaN(milliseconds)) throw new Error('A timer needs a number of milliseconds');
      const timer: Timer = { due: elapsed + Math.max(0, milliseconds), order: made++, callback };
      timers.add(timer);
      return () => {
        timers.delete(timer);
      };
    },
    async advance(milliseconds) {
      if (!(milliseconds >= 0))
        throw new Error('A clock only goes forwards; use jump for the wall clock');
      const target = elapsed + milliseconds;
      await settle();
      for (let timer = nextDue(target); timer !== undefined; timer = nextDue(target)) {
        timers.delete(timer);
        elapsed = Math.max(elapsed, timer.due);
        timer.callback();
        await settle();
      }
      elapsed = Math.max(elapsed, target);
      await settle();
    },
    jump(milliseconds) {
      wallOffset += milliseconds;
    },
    pending: () => timers.size,
  };
}
