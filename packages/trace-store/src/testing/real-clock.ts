import type { Clock } from '@orion/contracts';

/** For what happens in other processes and on the network, where no test decides what time it is. */
export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds);
    return () => {
      clearTimeout(timer);
    };
  },
};
