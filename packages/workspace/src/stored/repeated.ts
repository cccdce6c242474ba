import { OrionError, sleep } from '@orion/contracts';
import type { Clock } from '@orion/contracts';

/**
 * Pauses before a question is asked again whose answer did not come. Together they are longer than a turn keeps its owner
 * while the store is away: a session waits as its turn does, and is not paused for a person.
 */
const RETRY_MS: readonly number[] = [50, 200, 500, ...Array.from({ length: 15 }, () => 1_000)];

/** For a statement that may be made twice. Rejects with the last error if the store stays away. */
export async function repeated<Result>(clock: Clock, step: () => Promise<Result>): Promise<Result> {
  for (const pause of RETRY_MS) {
    try {
      return await step();
    } catch (error) {
      if (!OrionError.isInstance(error) || !error.retryable) throw error;
    }
    await sleep(clock, pause);
  }
  return step();
}
