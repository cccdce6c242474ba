import { OrionError, sleep } from '@orion/contracts';
import type { Clock } from '@orion/contracts';

/**
 * Pauses before a question is asked again whose answer did not come: a minute, which is longer than most failovers take.
 * Nobody else takes a turn while the store is away, and a session waits as its turn does instead of being paused for a
 * person.
 */
const RETRY_MS: readonly number[] = [50, 200, 500, ...Array.from({ length: 59 }, () => 1_000)];
/** The same for what somebody waits for who wants to leave. */
export const LEAVING_MS: readonly number[] = RETRY_MS.slice(0, 18);

/** For a statement that may be made twice. Rejects with the last error if the store stays away. */
export async function repeated<Result>(
  clock: Clock,
  step: () => Promise<Result>,
  pauses: readonly number[] = RETRY_MS,
): Promise<Result> {
  for (const pause of pauses) {
    try {
      return await step();
    } catch (error) {
      if (!mayPass(error)) throw error;
    }
    await sleep(clock, pause);
  }
  return step();
}

/** What is read from a place on, and again from behind what has come whenever no answer does. */
export async function* resumed(
  clock: Clock,
  from: number,
  read: (from: number) => AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let at = from;
  for (let failures = 0; ; failures += 1) {
    try {
      for await (const bytes of read(at)) {
        at += bytes.length;
        failures = 0;
        yield bytes;
      }
      return;
    } catch (error) {
      const pause = RETRY_MS[failures];
      if (pause === undefined || !mayPass(error)) throw error;
      await sleep(clock, pause);
    }
  }
}

function mayPass(error: unknown): boolean {
  return OrionError.isInstance(error) && error.retryable;
}
