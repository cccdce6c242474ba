import { limitedSignal, OrionError } from '@orion/contracts';
import type { Clock } from '@orion/contracts';

/** Whoever asks how the server is waits no longer for a part of the answer. */
export const LOOK_MS = 1000;

/** `unavailable` for what takes longer than a second or fails. */
export function within<State>(
  clock: Clock,
  look: () => Promise<State>,
): Promise<State | 'unavailable'> {
  return unlessLate(clock, () => look().catch(() => 'unavailable' as const));
}

/** The same, but rejects with what is a defect and no failure of something that the server needs. */
export function withinUnlessDefect<State>(
  clock: Clock,
  look: () => Promise<State>,
): Promise<State | 'unavailable'> {
  return unlessLate(clock, () =>
    look().catch((error: unknown) => {
      if (OrionError.isInstance(error)) return 'unavailable' as const;
      throw error;
    }),
  );
}

async function unlessLate<State>(
  clock: Clock,
  look: () => Promise<State>,
): Promise<State | 'unavailable'> {
  const limit = limitedSignal(new AbortController().signal, clock, LOOK_MS);
  const late = new Promise<'unavailable'>((resolve) => {
    limit.signal.addEventListener('abort', () => resolve('unavailable'), { once: true });
  });
  return Promise.race([look(), late]).finally(() => limit.end());
}
