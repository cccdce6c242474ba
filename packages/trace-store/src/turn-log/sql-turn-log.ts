import { OrionError } from '@orion/contracts';
import type { Clock, JsonValue, TurnLog, TurnLogEntry } from '@orion/contracts';
import { insertAll } from '../engine/sql-database.ts';
import type { SqlDatabase, SqlRow, SqlRunner } from '../engine/sql-database.ts';
import { createWakeUps } from './wake-ups.ts';
import type { WakeUps } from './wake-ups.ts';

export type SqlTurnLogOptions = {
  readonly clock: Clock;
  /** How often a reader polls; 1,000 ms when left out. */
  readonly sweepMs?: number;
};

export interface SqlTurnLog extends TurnLog {
  /**
   * Folds turns that have been idle since that time, the oldest first: their ends and the receipts of their writes are
   * kept, what they streamed is deleted. A turn without an end is taken to have lost its writer and ends with that; a
   * writer that is still alive is fenced. Resolves to the number of folded turns, at most `limit`, 100 when left out.
   */
  foldOldTurns(before: number, limit?: number): Promise<number>;
}

const DEFAULT_SWEEP_MS = 1_000;
const DEFAULT_READ_LIMIT = 1_000;
const DEFAULT_FOLD_LIMIT = 100;
const CHANNEL = 'orion_turn';
/** The events that show how a turn ended and what it wrote. */
const KEPT_KINDS = ['done', 'error', 'usage', 'write_session'];

/**
 * The turn log in a database.
 *
 * 1. The check of the epoch, the check of the number and the append are atomic: no other writer comes between them.
 * 2. A refused append has changed nothing.
 * 3. A repeat is recognised by its writer, numbers and content; any other append with taken numbers is refused.
 * 4. A reader sees numbers in order, each once, and none that could still be rolled back.
 * 5. Folding an unfinished turn also takes it from its writer.
 */
export function createSqlTurnLog(database: SqlDatabase, options: SqlTurnLogOptions): SqlTurnLog {
  const { clock, sweepMs = DEFAULT_SWEEP_MS } = options;
  const put = database.dialect === 'postgres' ? putPostgres : putSqlite;
  const wakeUps = createWakeUps({
    clock,
    sweepMs,
    listen: (wake) => database.listen(CHANNEL, wake),
  });

  return {
    async acquire(turnId, epoch) {
      const taken =
        Number.isSafeInteger(epoch) &&
        epoch >= 1 &&
        (await database.run(
          `insert into turn (turn_id, epoch, last_seq, active_at) values ($1, $2, 0, $3)
           on conflict (turn_id) do update set epoch = excluded.epoch, active_at = excluded.active_at
           where turn.epoch < excluded.epoch`,
          [turnId, epoch, clock.now()],
        )) > 0;
      if (!taken) throw fenced(turnId, epoch);
    },

    async append(turnId, epoch, expectSeq, events) {
      for (const [index, event] of events.entries()) {
        if (event.seq !== expectSeq + index) {
          throw gap(turnId, `the number ${event.seq} is in the place of ${expectSeq + index}`);
        }
      }
      const last = await put(database, {
        turnId,
        epoch,
        expectSeq,
        events: events.map(({ seq, kind, data }) => ({ seq, kind, data: JSON.stringify(data) })),
        now: clock.now(),
        finished: events.some((event) => event.kind === 'done'),
      });
      wakeUps.wake(turnId);
      return last;
    },

    read: (turnId, afterSeq, limit = DEFAULT_READ_LIMIT) =>
      readEntries(database, turnId, afterSeq, limit),

    tail: (turnId, afterSeq, signal) => tail(database, wakeUps, turnId, afterSeq, signal),

    async epochOf(turnId) {
      const [row] = await database.all('select epoch from turn where turn_id = $1', [turnId]);
      return Number(row?.['epoch'] ?? 0);
    },

    foldOldTurns: (before, limit = DEFAULT_FOLD_LIMIT) =>
      foldOldTurns(database, clock, before, limit),
  };
}

async function readEntries(
  database: SqlDatabase,
  turnId: string,
  afterSeq: number,
  limit: number,
): Promise<readonly TurnLogEntry[]> {
  const rows = await database.all(
    `select seq, epoch, kind, data, stored_at from turn_event
     where turn_id = $1 and seq > $2 order by seq limit $3::bigint`,
    [turnId, afterSeq, Math.max(0, limit)],
  );
  return rows.map((row) => toEntry(turnId, row));
}

async function isOver(database: SqlDatabase, turnId: string, afterSeq: number): Promise<boolean> {
  const rows = await database.all(
    'select 1 from turn where turn_id = $1 and finished_at is not null and last_seq <= $2',
    [turnId, afterSeq],
  );
  return rows.length > 0;
}

/** Ends with the turn, or when the signal is aborted. */
async function* tail(
  database: SqlDatabase,
  wakeUps: WakeUps,
  turnId: string,
  afterSeq: number,
  signal: AbortSignal,
): AsyncGenerator<TurnLogEntry, void> {
  // Registered before the first read, so that nothing stored after it is missed.
  const watch = wakeUps.watch(turnId);
  let position = afterSeq;
  let looked = false;
  try {
    while (!signal.aborted) {
      let entries: readonly TurnLogEntry[] = [];
      try {
        entries = await readEntries(database, turnId, position, DEFAULT_READ_LIMIT);
        if (entries.length === 0 && (await isOver(database, turnId, position))) return;
        looked = true;
      } catch (error) {
        // A database that has answered before will come back; one that never did is reported to the reader.
        if (!looked || !isUnavailable(error)) throw error;
      }
      for (const entry of entries) {
        if (signal.aborted) return;
        position = entry.seq;
        yield entry;
        if (entry.kind === 'done') return;
      }
      if (entries.length === 0) await watch.wait(signal);
    }
  } finally {
    watch.stop();
  }
}

async function foldOldTurns(
  database: SqlDatabase,
  clock: Clock,
  before: number,
  limit: number,
): Promise<number> {
  const turns = await database.all(
    `select turn_id from turn where active_at < $1 and folded_at is null
     order by active_at limit $2::bigint`,
    [before, limit],
  );
  const kept = KEPT_KINDS.map((kind) => `'${kind}'`).join(', ');
  let folded = 0;
  for (const { turn_id: turnId = null } of turns) {
    // One at a time: a long fold must not block SQLite's writers.
    await database.transaction(async (inside) => {
      // First, because it takes the turn from its writer; a turn that has become active meanwhile is left alone.
      const taken = await inside.run(
        `update turn
         set folded_at = $2::bigint,
             epoch = case when finished_at is null then epoch + 1 else epoch end,
             finished_at = coalesce(finished_at, active_at)
         where turn_id = $1 and active_at < $3::bigint and folded_at is null`,
        [turnId, clock.now(), before],
      );
      if (taken === 0) return;
      await inside.run(`delete from turn_event where turn_id = $1 and kind not in (${kept})`, [
        turnId,
      ]);
      folded += 1;
    });
  }
  return folded;
}

type Append = {
  readonly turnId: string;
  readonly epoch: number;
  readonly expectSeq: number;
  readonly events: readonly {
    readonly seq: number;
    readonly kind: string;
    readonly data: string;
  }[];
  readonly now: number;
  readonly finished: boolean;
};

/**
 * Moves the end of the turn if, and only if, this writer may: the one place that makes both checks.
 * $1 turn, $2 epoch, $3 last number before, $4 how many more, $5 now, $6 whether the turn is over.
 */
const MOVE_END = `update turn
  set last_seq = $3::bigint + $4::bigint,
      active_at = $5::bigint,
      finished_at = case when $6::integer = 1 then $5::bigint else finished_at end
  where turn_id = $1 and epoch = $2::bigint and last_seq = $3::bigint`;

async function putSqlite(database: SqlDatabase, append: Append): Promise<number> {
  return database.transaction(async (inside) => {
    const { turnId, epoch, expectSeq, events, now, finished } = append;
    const moved = await inside.run(MOVE_END, [
      turnId,
      epoch,
      expectSeq - 1,
      events.length,
      now,
      finished ? 1 : 0,
    ]);
    if (moved === 0) return settleRefusal(inside, append);
    await insertAll(
      inside,
      'turn_event',
      ['turn_id', 'seq', 'epoch', 'kind', 'data', 'stored_at'],
      events.map(({ seq, kind, data }) => [turnId, seq, epoch, kind, data, now]),
    );
    return expectSeq + events.length - 1;
  });
}

/** A single statement, so that a broken connection leaves all of it or nothing, and one answer is enough. */
async function putPostgres(database: SqlDatabase, append: Append): Promise<number> {
  const { turnId, epoch, expectSeq, events, now, finished } = append;
  const moved = await database.all(
    `with turn_end as (
       ${MOVE_END} returning turn_id
     ), stored as (
       insert into turn_event (turn_id, seq, epoch, kind, data, stored_at)
       select turn_end.turn_id, event.seq, $2::bigint, event.kind, event.data, $5::bigint
       from turn_end, unnest($7::bigint[], $8::text[], $9::text[]) as event (seq, kind, data)
     )
     select pg_notify('${CHANNEL}', turn_id) from turn_end`,
    [
      turnId,
      epoch,
      expectSeq - 1,
      events.length,
      now,
      finished ? 1 : 0,
      events.map((event) => event.seq),
      events.map((event) => event.kind),
      events.map((event) => event.data),
    ],
  );
  if (moved.length === 0) return settleRefusal(database, append);
  return expectSeq + events.length - 1;
}

/** Finds out why the end of the turn was not moved: another writer, a repeat, or a gap. */
async function settleRefusal(runner: SqlRunner, append: Append): Promise<number> {
  const { turnId, epoch, expectSeq, events } = append;
  const [turn] = await runner.all('select epoch, last_seq from turn where turn_id = $1', [turnId]);
  if (turn?.['epoch'] !== epoch) throw fenced(turnId, epoch);
  const last = Number(turn['last_seq']);
  const end = expectSeq + events.length - 1;
  if (end > last)
    throw gap(turnId, `its last number is ${last}, which ${expectSeq} does not follow`);
  const rows = await runner.all(
    `select epoch, kind, data from turn_event
     where turn_id = $1 and seq between $2 and $3 order by seq`,
    [turnId, expectSeq, end],
  );
  const isRepeat =
    rows.length === events.length &&
    rows.every(
      (row, index) =>
        row['epoch'] === epoch &&
        row['kind'] === events[index]?.kind &&
        row['data'] === events[index]?.data,
    );
  if (!isRepeat) throw gap(turnId, `the numbers from ${expectSeq} to ${end} are taken`);
  return last;
}

function toEntry(turnId: string, row: SqlRow): TurnLogEntry {
  return {
    turnId,
    seq: Number(row['seq']),
    epoch: Number(row['epoch']),
    kind: String(row['kind']),
    data: JSON.parse(String(row['data'])) as JsonValue,
    storedAt: Number(row['stored_at']),
  };
}

function fenced(turnId: string, epoch: number): OrionError {
  return new OrionError({
    code: 'FENCED',
    message: `The turn ${turnId} does not belong to the writer ${epoch}`,
  });
}

function gap(turnId: string, why: string): OrionError {
  return new OrionError({
    code: 'TURN_LOG_GAP',
    message: `The events do not continue the turn ${turnId}: ${why}`,
  });
}

function isUnavailable(error: unknown): boolean {
  return OrionError.isInstance(error) && error.code === 'STORE_UNAVAILABLE' && error.retryable;
}
