import { OrionError, sleep } from '@orion/contracts';
import type { Clock } from '@orion/contracts';

const RETRY_MS = 500;

/** Repeats what a store could not answer until it does. Rejects when `lost` is aborted, and with what no repeat helps. */
export async function untilStored<Answer>(
  clock: Clock,
  lost: AbortSignal,
  attempt: () => Promise<Answer>,
): Promise<Answer> {
  for (;;) {
    lost.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      if (!OrionError.isInstance(error) || !error.retryable) throw error;
    }
    await sleep(clock, RETRY_MS, lost);
  }
}
