import type { Clock } from '@orion/contracts';

/** Whether `work` came to its end within that time. What it rejects with is its owner's business. */
export function endsWithin(
  clock: Clock,
  milliseconds: number,
  work: Promise<unknown>,
): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = clock.schedule(milliseconds, () => {
      resolve(false);
    });
    const end = (): void => {
      cancel();
      resolve(true);
    };
    work.then(end, end);
  });
}

/** Ends with `work`, or when the signal aborts and `work` goes on alone. Rejects with what `work` rejects before. */
export async function untilAborted(signal: AbortSignal, work: Promise<unknown>): Promise<void> {
  if (signal.aborted) {
    work.catch(() => undefined);
    return;
  }
  const aborted = Promise.withResolvers<void>();
  const end = (): void => {
    aborted.resolve();
  };
  signal.addEventListener('abort', end, { once: true });
  try {
    await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}
