import type { Orion } from '@orion/agent';
import type { Clock, ReadyAnswer, ServiceState } from '@orion/contracts';
import { limitedSignal } from '@orion/contracts';

const LOOK_MS = 1000;

/**
 * Whether the services behind the server can be used. Anybody may ask, so one look answers all who ask within a
 * second of it, and takes no longer than a second itself.
 */
export function watchServices(
  orion: Pick<Orion, 'store'>,
  clock: Clock,
): () => Promise<ReadyAnswer['services']> {
  let latest: { readonly at: number; readonly store: Promise<ServiceState> } | null = null;
  return async () => {
    const now = clock.monotonic();
    if (latest === null || now - latest.at >= LOOK_MS) {
      latest = { at: now, store: lookAtStore(orion, clock) };
    }
    return { store: await latest.store };
  };
}

function lookAtStore(orion: Pick<Orion, 'store'>, clock: Clock): Promise<ServiceState> {
  const limit = limitedSignal(new AbortController().signal, clock, LOOK_MS);
  return new Promise((resolve) => {
    const settle = (state: ServiceState): void => {
      limit.end();
      resolve(state);
    };
    limit.signal.addEventListener('abort', () => settle('unavailable'), { once: true });
    orion.store.conversations.list({ limit: 1 }).then(
      () => settle('ok'),
      () => settle('unavailable'),
    );
  });
}
