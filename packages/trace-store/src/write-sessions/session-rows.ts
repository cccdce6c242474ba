import type { StoredSession, TextPlaces, TurnFence } from '@orion/contracts';
import { databaseNow, SqlRefusedError } from '../engine/sql-database.ts';
import type { SqlRow, SqlRunner } from '../engine/sql-database.ts';

/** An owner without a turn that was not heard of for so long is dead, in milliseconds. */
export const LEASE_MS = 10_000;

/** Of Postgres and of SQLite. */
const UNIQUE_VIOLATIONS: ReadonlySet<string> = new Set(['23505', '2067', '1555']);

/** The random part of an epoch. */
const EPOCH_STEP = 2 ** 20;

/** No other owner has taken the turn of this one. */
export const IS_OF_ITS_TURN: string = `(write_session.turn_id is null or exists (
  select 1 from turn where turn.turn_id = write_session.turn_id and turn.epoch = write_session.turn_epoch))`;

export const PLACES = `write_session.content_generation, write_session.content_bytes,
  write_session.pending_generation, write_session.pending_bytes, write_session.trailing_generation,
  write_session.trailing_bytes`;

export const WITH_COMMIT =
  'left join file_commit on file_commit.session_id = write_session.session_id';

/** What the dialects write in different ways. */
export type SessionSql = {
  readonly now: string;
  readonly firstEpoch: string;
  /** Higher than any before, and not the one that another timeline of the database makes. */
  readonly nextEpoch: string;
  /** Its owner may still be at it, or the next owner of its turn has not got to it yet. */
  readonly isLive: string;
  /** `from write_session`, with the commit that was decided, and without `turn`, which is large. */
  readonly columns: string;
  /** Locks the row that was read until the transaction ends; SQLite has one writer at a time. */
  readonly forUpdate: string;
  /** Of an expression for bytes, and of one for that text. */
  readonly encoding: 'base64' | 'hex';
  readonly encoded: (bytes: string) => string;
  readonly decoded: (text: string) => string;
};

const POSTGRES = sessionSqlOf('postgres');
const SQLITE = sessionSqlOf('sqlite');

export function sessionSql(dialect: SqlRunner['dialect']): SessionSql {
  return dialect === 'postgres' ? POSTGRES : SQLITE;
}

function sessionSqlOf(dialect: SqlRunner['dialect']): SessionSql {
  const isPostgres = dialect === 'postgres';
  const now = databaseNow(dialect);
  const random = isPostgres
    ? `cast(floor(random() * ${EPOCH_STEP}) as bigint)`
    : `(random() & ${EPOCH_STEP - 1})`;
  const isLive = `(write_session.is_owned and case
    when write_session.turn_id is null then write_session.beat_at > ${now} - ${LEASE_MS}
    else exists (select 1 from turn where turn.turn_id = write_session.turn_id and turn.finished_at is null)
  end)`;
  return {
    now,
    firstEpoch: `${EPOCH_STEP} + ${random}`,
    nextEpoch: `(write_session.epoch / ${EPOCH_STEP} + 1) * ${EPOCH_STEP} + ${random}`,
    isLive,
    columns: `write_session.session_id, write_session.metadata, write_session.state,
      file_commit.record as writing, ${PLACES}, content_lines, content_open, cast(${isLive} as integer) as is_live,
      cast(put_away_at is not null as integer) as is_put_away,
      ${now} - ${isPostgres ? 'greatest' : 'max'}(active_at, beat_at) as age`,
    forUpdate: isPostgres ? 'for update' : '',
    encoding: isPostgres ? 'base64' : 'hex',
    encoded: (bytes) => (isPostgres ? `encode(${bytes}, 'base64')` : `hex(${bytes})`),
    decoded: (text) => (isPostgres ? `decode(${text}, 'base64')` : `unhex(${text})`),
  };
}

/** A unique index refuses it. */
export function isTaken(error: unknown): boolean {
  return error instanceof SqlRefusedError && UNIQUE_VIOLATIONS.has(error.reason);
}

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

/** The parameters $3 and $4, from `fenceOf`, name the turn of the session, and its present owner. */
export const IS_OF_THIS_TURN: string = `(write_session.turn_id = $3 and exists (
  select 1 from turn where turn.turn_id = $3 and turn.epoch = $4::bigint))`;

/** The parameters `turn_id` and `turn_epoch`. */
export function fenceOf(fence: TurnFence | null): readonly [string | null, number | null] {
  return fence === null ? [null, null] : [fence.turnId, fence.epoch];
}
