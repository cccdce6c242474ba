import type { Clock } from '@orion/contracts';

/** Real time, for adapters that are given no clock. */
export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule: (milliseconds, callback) => {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** Waits, or until the signal is aborted; never rejects. */
export async function sleep(
  clock: Clock,
  milliseconds: number,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const end = (): void => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.schedule(milliseconds, end);
    signal.addEventListener('abort', end, { once: true });
  });
}
