import type {
  Clock,
  Redact,
  TraceEvent,
  TraceFilter,
  TraceInput,
  TraceStore,
} from '@orion/contracts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { describeThrown } from '../safety/json-safety.ts';
import { prepareTrace, toStoredFilter, toTraceInput } from '../safety/trace-event.ts';
import { TraceQueue } from './trace-queue.ts';
import { toTraceEvent, toTraceRow } from './trace-row.ts';
import { SELECT_LAST_ID, selectEvents } from './trace-statements.ts';
import { TraceWriter } from './trace-writer.ts';

export type SqlTraceStoreOptions = {
  readonly clock: Clock;
  /** Distinguishes the rows of one store from those of any other that writes to the same database. */
  readonly createId: () => string;
  /** How many events may wait to be stored; 10,000 when left out. */
  readonly maxQueuedEvents?: number;
  /** About how many bytes of them; 32 MiB when left out. */
  readonly maxQueuedBytes?: number;
  /** Sees every event as it enters the queue, already redacted; its id counts the events of this store. */
  readonly onEvent?: (event: TraceEvent) => void;
  /** Removes the keys in use from every text. */
  readonly redact?: Redact;
  /** Called once, when the first event is dropped; `dropped()` has the count (R228). */
  readonly onFirstDrop?: (reason: string) => void;
  /** `record` throws, and `flush` and `close` reject, if an event cannot be kept (R228). */
  readonly strict?: boolean;
};

const MAX_QUEUED_EVENTS = 10_000;
const MAX_QUEUED_BYTES = 32 * 1024 * 1024;
const FLUSH_MS = 5_000;
const CLOSE_MS = 1_000;
const WRITER_ID = 16;
/** Events returned if the caller sets no limit. */
const MAX_FOUND = 10_000;
/** Events that a scan holds at once, each at most 64 KiB, and held twice while the database answers. */
const PAGE = 200;

/**
 * Traces in a database, SQLite or Postgres.
 *
 * 1. `record` makes the value safe, redacts it and puts it into a bounded queue. It does not touch the database, and
 *    never throws or waits unless `strict` is set (R226, R228, R229).
 * 2. Rows are stored in the order in which they were recorded, in batches. If the database refuses a batch, its rows are
 *    tried one by one, so that one bad row costs no other (B24).
 * 3. While the database is unreachable rows wait in the queue; those that no longer fit are dropped and counted (C10).
 * 4. A row is stored at most once, even if the answer to its batch was lost: it carries an id of its own.
 * 5. `flush` and `close` end by their deadlines, and `close` when it is cut, whatever the database does. Rows that
 *    `close` leaves behind are counted as dropped, although a pending insert may still succeed.
 * 6. The database belongs to the caller, who closes it after the store.
 */
export function createSqlTraceStore(
  database: SqlDatabase,
  options: SqlTraceStoreOptions,
): TraceStore {
  const { clock, onEvent, onFirstDrop, redact, strict = false } = options;
  const { maxQueuedEvents = MAX_QUEUED_EVENTS, maxQueuedBytes = MAX_QUEUED_BYTES } = options;
  // Half a UUID is random enough to distinguish writers, and short in an index.
  const writerId = options.createId().replaceAll('-', '').slice(0, WRITER_ID);
  const queue = new TraceQueue(maxQueuedEvents, maxQueuedBytes);
  let recorded = 0;
  let dropped = 0;
  let closed: Promise<void> | null = null;

  const drop = (count: number, reason: string): void => {
    const first = dropped === 0;
    dropped += count;
    if (!first) return;
    try {
      onFirstDrop?.(reason);
    } catch {
      // A failing observer must not affect recording.
    }
  };

  const writer = new TraceWriter(database, queue, {
    clock,
    onRefused: (reason) => {
      drop(1, reason);
    },
  });

  const keep = (input: TraceInput | string, data: unknown): void => {
    if (closed !== null) throw new Error('The trace store is closed');
    if (strict) writer.throwFailure();
    // Before any work is spent on an event that cannot be kept.
    if (queue.isFull) throw new Error('Too many trace events wait for the database');
    const prepared = prepareTrace(toTraceInput(input, data), clock.now(), redact);
    const id = recorded + 1;
    const row = toTraceRow(prepared, `${writerId}-${id.toString(36).padStart(7, '0')}`);
    if (!queue.push(row)) throw new Error('Too many trace events wait for the database');
    recorded = id;
    writer.wake();
    try {
      onEvent?.({ id, ...prepared.event });
    } catch (error) {
      // The event is kept even if its observer threw.
      if (strict) throw error;
    }
  };

  return {
    record(input: TraceInput | string, data?: unknown) {
      try {
        keep(input, data);
      } catch (error) {
        drop(1, describeThrown(error));
        if (strict) throw error;
      }
    },
    getTrace: (requestId) => find(database, { requestId }, Number.MAX_SAFE_INTEGER),
    query: (filter) => find(database, filter, filter.limit ?? MAX_FOUND),
    scan: (filter) => scan(database, filter),
    dropped: () => dropped,
    async flush() {
      await writer.drain(FLUSH_MS);
      if (strict) writer.throwFailure();
    },
    close(cut) {
      closed ??= (async () => {
        await writer.stop(CLOSE_MS, cut);
        if (queue.size > 0) {
          drop(queue.size, 'The store was closed before the database had taken every event');
          queue.remove(queue.size);
        }
        if (strict) writer.throwFailure();
      })();
      return closed;
    },
  };
}

async function find(
  database: SqlDatabase,
  filter: TraceFilter,
  limit: number,
): Promise<readonly TraceEvent[]> {
  if (!(limit >= 1)) return [];
  const range = { order: 'desc', limit: Math.floor(limit) } as const;
  const { sql, parameters } = selectEvents(toStoredFilter(filter), range);
  const rows = await database.all(sql, parameters);
  return rows.map(toTraceEvent).toReversed();
}

async function* scan(database: SqlDatabase, filter: TraceFilter): AsyncGenerator<TraceEvent, void> {
  const wanted = toStoredFilter(filter);
  // Without a fixed end, a store that is written faster than it is read would never be finished.
  const [newest] = await database.all(SELECT_LAST_ID);
  const last = Number(newest?.['last'] ?? 0);
  for (let after = 0; ;) {
    const { sql, parameters } = selectEvents(wanted, { order: 'asc', limit: PAGE, after, last });
    const rows = await database.all(sql, parameters);
    for (const row of rows) {
      const event = toTraceEvent(row);
      after = event.id;
      yield event;
    }
    if (rows.length < PAGE) return;
  }
}
