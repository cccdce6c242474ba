import type { ProtocolContext } from '@orion/contracts';
import { millisecondsOf } from './verdict.ts';

/** Timers overflow beyond; nothing here lasts for 24 days. */
export const MAX_TIMER_MS: number = 2_147_483_647;

/**
 * A signal for a tool call: aborted with the given one, and when the user's seconds are used up (R251). The
 * policy's own time limit is about model calls; a tool has a limit of its own. `end` leaves no timer behind.
 */
export function budgetSignal(
  context: ProtocolContext,
  outer: AbortSignal,
): { readonly signal: AbortSignal; readonly end: () => void } {
  const { config, clock } = context;
  const { maxSeconds } = config.budget;
  if (maxSeconds === null) return { signal: outer, end: () => undefined };
  const controller = new AbortController();
  const abort = (): void => controller.abort(outer.reason);
  if (outer.aborted) abort();
  else outer.addEventListener('abort', abort, { once: true });
  const left = maxSeconds * 1000 - millisecondsOf(context);
  const cancel = clock.schedule(Math.min(Math.max(0, left), MAX_TIMER_MS), () =>
    controller.abort(),
  );
  return {
    signal: controller.signal,
    end: () => {
      cancel();
      outer.removeEventListener('abort', abort);
    },
  };
}
