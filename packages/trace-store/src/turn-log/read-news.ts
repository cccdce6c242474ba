import type { JsonValue, TurnLogEntry } from '@orion/contracts';
import type { SqlDatabase, SqlRow } from '../engine/sql-database.ts';
import { epochOf, eventsOf, PACK, ROWS } from './event-packs.ts';
import type { StoredEvent } from './event-packs.ts';
import { wholeData } from './shared-fields.ts';

/** A turn, and the number of the last event that somebody has read of it. */
export type Cursor = { readonly turnId: string; readonly seq: number };

/** What the log has of a turn behind a cursor, all of it as it was at one moment. */
export type News = {
  readonly turnNo: number;
  readonly lastSeq: number;
  readonly isOver: boolean;
  readonly isFolded: boolean;
  /** The epoch of the event at the cursor; null if there is none. */
  readonly epochAt: number | null;
  /** In order, from the next one on; not all of them if they are too large. */
  readonly entries: readonly TurnLogEntry[];
};

/** The highest number that a turn can have. */
export const MAX_SEQ: number = 2 ** 31 - 1;
/** The most events of one turn in one answer. */
const MAX_EVENTS = 1_000;

/**
 * The news of many turns, in the order of the cursors; undefined for a turn that is not known. Of each turn at most
 * `maxBytes` are read, but one event at least.
 */
export async function readNews(
  database: SqlDatabase,
  cursors: readonly Cursor[],
  maxBytes: number,
): Promise<readonly (News | undefined)[]> {
  if (database.dialect === 'postgres') {
    const rows = await database.all(POSTGRES, [
      // What no turn can have finds none: one reader's mistake must not fail the statement of all.
      cursors.map(({ turnId }) => turnId.replaceAll('\u0000', '\ufffd')),
      cursors.map(({ seq }) => Math.min(seq, MAX_SEQ)),
      maxBytes,
    ]);
    const ofCursor = Map.groupBy(rows, ({ place }) => Number(place) - 1);
    return cursors.map((cursor, place) => newsOf(cursor, ofCursor.get(place) ?? [], maxBytes));
  }
  const news: (News | undefined)[] = [];
  for (const cursor of cursors) {
    const rows = await database.all(SQLITE, [cursor.turnId, cursor.seq, maxBytes]);
    news.push(newsOf(cursor, rows, maxBytes));
  }
  return news;
}

const sizesOf = (turnNo: string, seq: string): string =>
  `select seq, octet_length(data) as bytes from turn_event
   where turn_event.turn_no = ${turnNo} and seq > ${seq} order by seq limit ${MAX_EVENTS}`;

/**
 * The rows behind a cursor. How far they go is decided first and once, from their sizes alone: texts that are not taken
 * are not read.
 */
const rowsBehind = (
  rows: string,
  sizes: string,
  seq: string,
): string => `select seq, epoch, kind, stored_at, data from (
      select max(seq) as last from (
        select seq, sum(bytes)
          over (order by seq rows between unbounded preceding and 1 preceding) as bytes_before
        from (${sizes}) as sizes
      ) as sized where coalesce(bytes_before, 0) <= $3
    ) as room, ${rows} and seq > ${seq} and seq <= room.last`;

const columns = (dialect: SqlDatabase['dialect'], epochAt: string): string =>
  `turn.turn_no, turn.last_seq, turn.finished_at, turn.folded_at, ${epochAt} as epoch_at,
  event.seq, event.epoch, event.kind, ${wholeData(dialect, 'event')} as data, event.stored_at`;

/** Of the row that has the event at the cursor: a pack has it if no other row comes before. */
const EPOCH_AT = `case when cursor.after_seq = 0 then null
    when at_cursor.seq = cursor.after_seq or at_cursor.kind = '${PACK}' then at_cursor.epoch
    when at_cursor.seq is null and turn.recent is not null and turn.last_seq >= cursor.after_seq
      then ${epochOf('turn.recent_form')} end`;
const BEHIND = rowsBehind(
  `lateral ${ROWS} as stored where true`,
  `(${sizesOf('turn.turn_no', 'cursor.after_seq')})
    union all
    select turn.last_seq, octet_length(turn.recent)
    where turn.recent is not null and turn.last_seq > cursor.after_seq`,
  'cursor.after_seq',
);

const POSTGRES = `select cursor.place, ${columns('postgres', EPOCH_AT)}
  from unnest($1::text[], $2::integer[]) with ordinality as cursor (turn_id, after_seq, place)
  join turn on turn.turn_id = cursor.turn_id
  left join lateral (
    select epoch, seq, kind from turn_event
    where turn_event.turn_no = turn.turn_no and seq >= cursor.after_seq order by seq limit 1
  ) as at_cursor on true
  left join lateral (${BEHIND}) as event on true
  order by cursor.place, event.seq`;

const TURN_NO = '(select turn_no from turn where turn_id = $1)';
const SQLITE = `select ${columns('sqlite', 'at_cursor.epoch')}
  from turn left join turn_event as at_cursor on at_cursor.turn_no = turn.turn_no and at_cursor.seq = $2
  left join (${rowsBehind(`turn_event where turn_no = ${TURN_NO}`, sizesOf(TURN_NO, '$2'), '$2')}) as event on true
  where turn.turn_id = $1 order by event.seq`;

function newsOf(
  { turnId, seq }: Cursor,
  rows: readonly SqlRow[],
  maxBytes: number,
): News | undefined {
  const [first] = rows;
  if (first === undefined) return undefined;
  const stored = first['seq'] === null ? [] : rows.flatMap(eventsOf);
  return {
    turnNo: Number(first['turn_no']),
    lastSeq: Number(first['last_seq']),
    isOver: first['finished_at'] !== null,
    isFolded: first['folded_at'] !== null,
    epochAt: first['epoch_at'] === null ? null : Number(first['epoch_at']),
    entries: takeWithin(
      stored.filter((event) => event.seq > seq),
      maxBytes,
    ).map((event) => toEntry(turnId, event)),
  };
}

/** As many as may be read at once: what a pack has in common is much longer with each of its events. */
function takeWithin(events: readonly StoredEvent[], maxBytes: number): readonly StoredEvent[] {
  let bytes = 0;
  const end = events.findIndex(({ text }, index) => {
    const isOver = bytes > maxBytes || index === MAX_EVENTS;
    bytes += text.length;
    return isOver;
  });
  return end === -1 ? events : events.slice(0, end);
}

export function toEntry(turnId: string, { text, ...event }: StoredEvent): TurnLogEntry {
  return { turnId, ...event, data: JSON.parse(text) as JsonValue };
}
