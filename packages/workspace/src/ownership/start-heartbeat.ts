import type { Clock } from '@orion/contracts';
import { HEARTBEAT_MS } from './judge-owner.ts';

/**
 * Calls `renew` at each heartbeat until it returns false or the heartbeat is stopped. A failure is tried again: on the
 * same host the process id proves life. `stop` waits for a call in progress.
 */
export function startHeartbeat(
  clock: Clock,
  renew: () => Promise<boolean>,
): { readonly stop: () => Promise<void> } {
  let beating: Promise<void> = Promise.resolve();
  let stopped = false;
  let cancel: () => void;
  const beat = async (): Promise<void> => {
    const goesOn = await renew().catch(() => true);
    if (goesOn && !stopped) cancel = clock.schedule(HEARTBEAT_MS, start);
  };
  const start = (): void => {
    beating = beat();
  };
  cancel = clock.schedule(HEARTBEAT_MS, start);
  return {
    stop: () => {
      stopped = true;
      cancel();
      return beating;
    },
  };
}
