import type { Clock } from '@orion/contracts';

import type { OrionClientError } from './client-error.ts';

/**
 * A server ends an upload that has broken off after 15 s, and keeps the session from other servers for a minute more:
 * both together, and a little.
 */
const LONGEST_MS = 80_000;

/** Whether an error says that somebody has the session, for as long as that may be a connection that is gone. */
export function createHeldSession(clock: Clock): (error: OrionClientError) => boolean {
  let since: number | null = null;
  return ({ code }) => {
    if (code !== 'SESSION_BUSY') return false;
    since ??= clock.monotonic();
    return clock.monotonic() - since < LONGEST_MS;
  };
}
