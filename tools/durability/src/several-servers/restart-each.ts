/** Replaces one server after the other, and sees in the store when their turns have other owners. */
import { setTimeout as wait } from 'node:timers/promises';

import { connectTo } from '../served-turns/databases.ts';
import type { Scene } from './scene.ts';

/** From the signal to a server until another one owns what it ran, its saving included. */
const HAND_OFF_MS = 1_000;
/**
 * From one restart to the next. Here all servers share the processors of one machine: the start of the next one, which
 * is half a second of work, would be at the expense of those that are just taking over.
 */
const PAUSE_MS = 1_000;
const LOOK_MS = 20;
/** 1 is the state of a turn that has an owner. */
const TURNS = 'select turn_id, epoch, state = 1 as is_owned from turn where finished_at is null';

export async function restartEach(scene: Scene): Promise<void> {
  const { group } = scene;
  let handedOff = 0;
  const owners = await watchOwners(scene.database);
  try {
    for (const pid of await group.pids()) {
      const stoppedAt = await group.replace(pid, 'SIGTERM');
      await wait(PAUSE_MS);
      // It has ended, and so given back what it ran: those turns are the only ones that wait for an owner.
      while (owners.areMissing() && !scene.signal.aborted) await wait(LOOK_MS);
      const times = owners.changes.splice(0).map((at) => Math.round(at - stoppedAt));
      const longestMs = Math.max(0, ...times);
      handedOff += times.length;
      scene.note({ kind: 'term', handedOff: times.length, longestMs });
      if (longestMs > HAND_OFF_MS)
        scene.miss(`a turn was handed off after ${longestMs} ms, not at most ${HAND_OFF_MS}`);
    }
    if (handedOff === 0) scene.miss('no turn was handed off');
  } finally {
    await owners.end();
  }
}

/** @returns with the moments, by the monotonic clock, at which turns that run have changed their owners */
async function watchOwners(database: string): Promise<{
  readonly changes: number[];
  /** Whether a turn that is not over has no owner. */
  areMissing(): boolean;
  end(): Promise<void>;
}> {
  const connection = await connectTo(database);
  const changes: number[] = [];
  const owners = new Map<unknown, unknown>();
  let areMissing = false;
  const over = new AbortController();
  const look = async (): Promise<void> => {
    const rows = await connection.rowsOf(TURNS);
    const now = performance.now();
    areMissing = rows.some(({ is_owned: isOwned }) => isOwned !== true);
    for (const { turn_id: turnId, epoch } of rows.filter(({ is_owned: isOwned }) => isOwned)) {
      const before = owners.get(turnId);
      if (before !== undefined && before !== epoch) changes.push(now);
      owners.set(turnId, epoch);
    }
  };
  await look();
  const looking = (async () => {
    while (!over.signal.aborted) {
      await look();
      await wait(LOOK_MS);
    }
  })();
  looking.catch(() => undefined);
  return {
    changes,
    areMissing: () => areMissing,
    async end() {
      over.abort();
      try {
        await looking;
      } finally {
        await connection.end();
      }
    },
  };
}
