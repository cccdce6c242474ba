import type { StoredSession, TextPlaces, TurnFence } from '@orion/contracts';
import { databaseNow } from '../engine/sql-database.ts';
import type { SqlRow } from '../engine/sql-database.ts';

/** An owner without a turn that was not heard of for so long is dead, in milliseconds. */
export const LEASE_MS = 10_000;

/** The random part of an epoch. */
const EPOCH_STEP = 2 ** 20;

export const NOW: string = databaseNow('postgres');

const RANDOM = `cast(floor(random() * ${EPOCH_STEP}) as bigint)`;

export const FIRST_EPOCH: string = `${EPOCH_STEP} + ${RANDOM}`;

/** Higher than any before, and not the one that another timeline of the database makes. */
export const NEXT_EPOCH: string = `(session.epoch / ${EPOCH_STEP} + 1) * ${EPOCH_STEP} + ${RANDOM}`;

/** No other owner has taken the turn of this one. */
export const IS_OF_ITS_TURN: string = `(session.turn_id is null or exists (
  select 1 from turn where turn.turn_id = session.turn_id and turn.epoch = session.turn_epoch))`;

/** Its owner may still be at it. */
export const IS_LIVE: string = `(session.is_owned and case
  when session.turn_id is null then session.beat_at > ${NOW} - ${LEASE_MS}
  else exists (select 1 from turn where turn.turn_id = session.turn_id
    and turn.epoch = session.turn_epoch and turn.finished_at is null)
end)`;

export const PLACES = `session.content_generation, session.content_bytes, session.pending_generation,
  session.pending_bytes, session.trailing_generation, session.trailing_bytes`;

/** `from write_session as session`, with the commit that was decided. */
export const COLUMNS: string = `session.session_id, session.metadata, session.state, session.turn, file_commit.record as writing,
  ${PLACES}, session.content_lines, session.content_open, cast(${IS_LIVE} as integer) as is_live,
  cast(session.put_away_at is not null as integer) as is_put_away, ${NOW} - greatest(session.active_at, session.beat_at) as age`;

export const WITH_COMMIT = 'left join file_commit on file_commit.session_id = session.session_id';

/** The number of a text in its pieces. */
export const TEXT_NUMBERS = { content: 0, pending: 1, trailing: 2 } as const;

export function placesOf(row: SqlRow): TextPlaces {
  const place = (text: keyof TextPlaces): TextPlaces['content'] => ({
    generation: Number(row[`${text}_generation`]),
    bytes: Number(row[`${text}_bytes`]),
  });
  return { content: place('content'), pending: place('pending'), trailing: place('trailing') };
}

export function sessionOf(row: SqlRow): StoredSession {
  const text = (column: string): string | null => {
    const value = row[column] ?? null;
    return value === null ? null : String(value);
  };
  return {
    sessionId: String(row['session_id']),
    metadata: String(row['metadata']),
    state: String(row['state']),
    turn: text('turn'),
    writing: text('writing'),
    places: placesOf(row),
    lineFeeds: Number(row['content_lines']),
    lines: Number(row['content_lines']) + Number(row['content_open']),
    isLive: row['is_live'] === 1,
    isPutAway: row['is_put_away'] === 1,
    ageMs: Math.max(0, Number(row['age'])),
  };
}

/** The parameters `turn_id` and `turn_epoch`. */
export function fenceOf(fence: TurnFence | null): readonly [string | null, number | null] {
  return fence === null ? [null, null] : [fence.turnId, fence.epoch];
}
