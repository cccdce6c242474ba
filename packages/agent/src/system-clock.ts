import type { Clock } from '@orion/contracts';

/** The machine's own clock. Timers do not keep a process alive: whoever waits for one holds something else open. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
};
