/** A primary that dies while turns run, and its standby behind the same address. */
import { setTimeout as wait } from 'node:timers/promises';

import { parseEventId } from '@orion/contracts';
import { startMovableAddress, startPostgres } from '@orion/testkit/postgres';

import { rowsOf } from '../served-turns/databases.ts';
import type { Sessions } from './scenario.ts';
import type { WatchedTurn } from './watched-turn.ts';

export const WAYS = ['synchronous', 'asynchronous'] as const;

export type Failover = {
  /** Of the server, by way of the address. */
  readonly url: string;
  /** Waits until the first turn is over, so that others are at every point, and fails over. */
  strike(turns: readonly WatchedTurn[], database: string): Promise<void>;
  /** What the standby lacked of what readers had. */
  readonly figures: () => Readonly<Record<string, number>>;
  /** Whether its reader had left with a `done` that the standby lacked: nobody tells it that the turn was run again. */
  readonly isLeftBefore: (turn: WatchedTurn) => boolean;
  /**
   * Of sessions in a database, the row that decides over a file may be taken back after the file was in its place. The
   * turn finds a file there that the store does not know, and a person is asked.
   */
  readonly mayBePaused: (turn: WatchedTurn) => boolean;
  /**
   * In directories, a turn that was taken back to before its session leaves that behind, for a person. So does a turn
   * that nobody knows any more.
   */
  readonly mayBeLeft: (failure: string) => boolean;
  /** @returns what is wrong with what readers were told of it */
  judge(turns: readonly WatchedTurn[]): readonly string[];
  stop(): Promise<void>;
};

type Place = {
  /** Of the last event that the reader had; 0 if it had none. */
  readonly seq: number;
  readonly isDone: boolean;
  /** What the standby has of the turn at this place. */
  readonly is: 'kept' | 'taken back' | 'unknown';
  /** The standby knows of its session. */
  readonly hasSession: boolean;
  /** How often it had begun again before. */
  readonly begunAgain: number;
};

const LOOK_MS = 20;
/** What is acknowledged in this time is lost where the standby is asynchronous. */
const HELD_MS = 1_500;

export async function prepareFailover(way: string, sessions: Sessions): Promise<Failover> {
  const isSynchronous = way === 'synchronous';
  const primary = await startPostgres();
  const standby = await primary.startStandby({ isSynchronous });
  const address = await startMovableAddress(primary.port);
  const url = new URL(primary.url);
  url.port = String(address.port);
  const places = new Map<WatchedTurn, Place>();
  const having = (is: Place['is']): readonly Place[] =>
    [...places.values()].filter((place) => place.is === is);
  return {
    url: url.href,
    async strike(turns, database) {
      while (!turns.some(({ isDone }) => isDone)) await wait(LOOK_MS);
      if (!isSynchronous) {
        standby.holdBack();
        await wait(HELD_MS);
      }
      address.hold();
      await primary.kill();
      await standby.promote();
      const promoted = new URL(database);
      promoted.port = String(standby.port);
      for (const turn of turns)
        if (turn.id !== '') places.set(turn, await placeOf(turn, promoted.href));
      address.moveTo(standby.port);
    },
    figures: () => ({
      takenBack: having('taken back').length,
      unknown: having('unknown').length,
      doneBefore: [...places.values()].filter(({ isDone }) => isDone).length,
    }),
    isLeftBefore: (turn) => {
      const { isDone = false, is = 'kept' } = places.get(turn) ?? {};
      return isDone && is === 'taken back';
    },
    mayBePaused: (turn) =>
      sessions === 'database' &&
      places.get(turn)?.is === 'taken back' &&
      turn.events.some(
        ({ type, data }) => type === 'write_session' && data['code'] === 'FILE_EXISTS',
      ) &&
      turn.events.at(-1)?.data['status'] === 'paused',
    mayBeLeft(failure) {
      const [, count = '0'] = /^(\d+) write sessions are left$/u.exec(failure) ?? [];
      const without = [...places.values()].filter(
        ({ is, hasSession }) => is !== 'kept' && !hasSession,
      );
      return Number(count) > 0 && Number(count) <= without.length;
    },
    judge(turns) {
      const lacking = having('taken back').length + having('unknown').length;
      const told = turns.flatMap((turn) => judgeReader(turn, places.get(turn)));
      if (isSynchronous && lacking > 0)
        return [...told, `the standby lacked something of ${lacking} turns`];
      if (!isSynchronous && lacking === 0) return [...told, 'the standby lacked nothing'];
      return told;
    },
    async stop() {
      await address.close();
      await primary.stop();
    },
  };
}

/** Where a reader is, and whether a store has that. */
async function placeOf(turn: WatchedTurn, database: string): Promise<Place> {
  const { seq, epoch } = parseEventId(turn.events.at(-1)?.id ?? '0') ?? { seq: 0, epoch: null };
  const [row] = await rowsOf(
    database,
    `select stored.epoch, exists (
         select from turn_event as event where event.turn_no = turn.turn_no and kind = 'write_session') as has_session
       from turn left join lateral (
         select epoch, seq from turn_event where turn_event.turn_no = turn.turn_no
         union all
         select split_part(recent_form, chr(9), 3)::bigint, last_seq where recent is not null
       ) as stored on stored.seq >= $2
       where turn_id = $1 order by stored.seq limit 1`,
    [turn.id, seq],
  );
  const isKept = seq === 0 || Number(row?.['epoch'] ?? 0) === epoch;
  const begunAgain = turn.resets + turn.losses;
  const is = row === undefined ? 'unknown' : isKept ? 'kept' : 'taken back';
  const hasSession = row?.['has_session'] === true;
  return { seq, isDone: turn.isDone, is, hasSession, begunAgain };
}

function judgeReader(turn: WatchedTurn, place: Place | undefined): readonly string[] {
  const { is = 'kept', isDone = false, begunAgain = 0 } = place ?? {};
  // Whoever has left is not told.
  if (isDone) return [];
  const isTold = turn.resets + turn.losses > begunAgain;
  if (is === 'kept')
    return isTold ? [`${turn.id} began again for its reader, who had lost nothing`] : [];
  return isTold ? [] : [`the reader of ${turn.id} was not told that it was taken back`];
}
