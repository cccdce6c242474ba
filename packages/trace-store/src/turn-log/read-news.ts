import type { JsonValue, TurnLogEntry } from '@orion/contracts';
import type { SqlDatabase, SqlRow } from '../engine/sql-database.ts';

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
const MAX_SEQ = 2 ** 31 - 1;
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
    return cursors.map((cursor, place) => newsOf(cursor, ofCursor.get(place) ?? []));
  }
  const news: (News | undefined)[] = [];
  for (const cursor of cursors) {
    news.push(newsOf(cursor, await database.all(SQLITE, [cursor.turnId, cursor.seq, maxBytes])));
  }
  return news;
}

const TURN = 'turn.turn_no, turn.last_seq, turn.finished_at, turn.folded_at';
const EVENT = 'event.seq, event.epoch, event.kind, event.data, event.stored_at';

// How far the events go is decided from their sizes alone: texts that are not taken are not read.

/**
 * One scan from the cursor on. The event there is part of the answer only where none is behind it; otherwise its epoch
 * comes with the first of those.
 */
const POSTGRES = `select cursor.place, ${TURN}, ${EVENT}, event.epoch_before
  from unnest($1::text[], $2::integer[]) with ordinality as cursor (turn_id, after_seq, place)
  join turn on turn.turn_id = cursor.turn_id
  left join lateral (
    select seq, epoch, kind, stored_at, data,
      lag(epoch) over (order by seq) as epoch_before, lead(seq) over (order by seq) as next_seq,
      sum(case when seq > cursor.after_seq then octet_length(data) else 0 end)
        over (order by seq rows between unbounded preceding and 1 preceding) as bytes_before
    from turn_event where turn_no = turn.turn_no and seq >= cursor.after_seq
    order by seq limit ${MAX_EVENTS + 1}
  ) as event on coalesce(event.bytes_before, 0) <= $3
    and (event.seq > cursor.after_seq or event.next_seq is null)
  order by cursor.place, event.seq`;

/** Two scans: whatever a window covers would be copied, texts included. */
const SQLITE = `select ${TURN}, ${EVENT}, at_cursor.epoch as epoch_before
  from turn left join turn_event as at_cursor on at_cursor.turn_no = turn.turn_no and at_cursor.seq = $2
  left join turn_event as event on event.turn_no = turn.turn_no and event.seq > $2 and event.seq <= (
    select max(seq) from (
      select seq, sum(octet_length(data))
        over (order by seq rows between unbounded preceding and 1 preceding) as bytes_before
      from turn_event where turn_no = turn.turn_no and seq > $2
      order by seq limit ${MAX_EVENTS}
    ) as sized where coalesce(bytes_before, 0) <= $3
  )
  where turn.turn_id = $1 order by event.seq`;

function newsOf({ turnId, seq }: Cursor, rows: readonly SqlRow[]): News | undefined {
  const [first] = rows;
  if (first === undefined) return undefined;
  const isAtCursor = first['seq'] === seq;
  const epochAt = (isAtCursor ? first['epoch'] : first['epoch_before']) ?? null;
  const behind = isAtCursor || first['seq'] === null ? [] : rows;
  return {
    turnNo: Number(first['turn_no']),
    lastSeq: Number(first['last_seq']),
    isOver: first['finished_at'] !== null,
    isFolded: first['folded_at'] !== null,
    epochAt: epochAt === null ? null : Number(epochAt),
    entries: behind.map((row) => toEntry(turnId, row)),
  };
}

export function toEntry(turnId: string, row: SqlRow): TurnLogEntry {
  return {
    turnId,
    seq: Number(row['seq']),
    epoch: Number(row['epoch']),
    kind: String(row['kind']),
    data: JSON.parse(String(row['data'])) as JsonValue,
    storedAt: Number(row['stored_at']),
  };
}
