import type { Orion } from '@orion/agent';
import type { Clock, DiskState, ReadyAnswer, ServiceState } from '@orion/contracts';
import { toErrorInfo } from '@orion/contracts';

import { LOOK_MS, within } from './within.ts';

/** A disk that took something is tried again after this time: each trial writes to it. */
const DISK_MS = 5000;

export type ServicesOptions = {
  readonly orion: Pick<Orion, 'store'>;
  readonly projects: { readonly all: readonly Pick<Orion, 'serverFiles'>[] };
  readonly clock: Clock;
};

/**
 * Whether what the server needs can be used: its store answers and takes what is written, and the disks take what is saved. Anybody may ask, so
 * one look answers all who ask within a second of it, and takes no longer than a second itself.
 */
export function watchServices({
  orion,
  projects,
  clock,
}: ServicesOptions): () => Promise<ReadyAnswer['services']> {
  const trials = projects.all.map(({ serverFiles }) => oneAtATime(() => serverFiles.tryDisk()));
  const store = atMostEvery(
    clock,
    () => LOOK_MS,
    () => lookAtStore(orion, clock),
  );
  const disk = atMostEvery<DiskState>(
    clock,
    (latest) => (latest === 'ok' ? DISK_MS : LOOK_MS),
    () => tryDisks(trials, clock),
  );
  return async () => {
    const [storeState, diskState] = await Promise.all([store(), disk()]);
    return { store: storeState, disk: diskState };
  };
}

/** The latest answer for as long as it holds, then another one. */
function atMostEvery<State>(
  clock: Clock,
  holdsMs: (latest: State) => number,
  look: () => Promise<State>,
): () => Promise<State> {
  let until = Number.NEGATIVE_INFINITY;
  let latest: Promise<State> | null = null;
  return () => {
    const now = clock.monotonic();
    if (latest !== null && now < until) return latest;
    until = now + LOOK_MS;
    latest = look().then((state) => {
      until = now + holdsMs(state);
      return state;
    });
    return latest;
  };
}

function lookAtStore(orion: Pick<Orion, 'store'>, clock: Clock): Promise<ServiceState> {
  return within<ServiceState>(clock, async () => {
    await orion.store.conversations.list({ limit: 1 });
    await orion.store.tryWrite();
    return 'ok';
  });
}

/** The worst of them. */
async function tryDisks(
  trials: readonly (() => Promise<void>)[],
  clock: Clock,
): Promise<DiskState> {
  const states = await Promise.all(
    trials.map((trial) =>
      within<DiskState>(clock, () =>
        trial().then(
          () => 'ok',
          (error: unknown) => (toErrorInfo(error).code === 'DISK_FULL' ? 'full' : 'unavailable'),
        ),
      ),
    ),
  );
  return states.find((state) => state !== 'ok') ?? 'ok';
}

/** A disk that hangs is not asked again and again. */
function oneAtATime(call: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  return () => (running ??= call().finally(() => (running = null)));
}
