import { sleep } from '@orion/contracts';
import type { Clock } from '@orion/contracts';

/** Whether `work` settles within that time. What it rejects with is its owner's business. */
export async function settlesWithin(
  clock: Clock,
  milliseconds: number,
  work: Promise<unknown>,
): Promise<boolean> {
  const settled = new AbortController();
  const end = (): void => settled.abort();
  work.then(end, end);
  await sleep(clock, milliseconds, settled.signal);
  return settled.signal.aborted;
}

/** Settles with `work`, or when the signal aborts and `work` continues alone. */
export async function untilAborted(signal: AbortSignal, work: Promise<unknown>): Promise<void> {
  await unlessAborted(signal, work);
}

/** What `work` resolves with; null when the signal aborts, and `work` continues alone. */
export async function unlessAborted<Value>(
  signal: AbortSignal,
  work: Promise<Value>,
): Promise<Value | null> {
  const aborted = Promise.withResolvers<null>();
  const end = (): void => aborted.resolve(null);
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  try {
    return await Promise.race([aborted.promise, work]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}
