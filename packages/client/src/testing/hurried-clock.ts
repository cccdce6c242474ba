import type { Clock } from '@orion/contracts';

/** Pauses take no time, and the limits of an answer are never reached. */
export function hurriedClock(onPause: (milliseconds: number) => void = () => undefined): Clock {
  return {
    now: () => 0,
    monotonic: () => 0,
    schedule(milliseconds, callback) {
      const isLimit = milliseconds >= 15_000;
      const timer = setTimeout(
        () => {
          if (!isLimit) onPause(milliseconds);
          callback();
        },
        isLimit ? 60_000 : 0,
      );
      return () => clearTimeout(timer);
    },
  };
}
