import type { AppendOutcome, Clock, TurnAppend, TurnLog, TurnLogEntry } from '@orion/contracts';
import { reportRefusals } from '../engine/reported-database.ts';
import { databaseNow } from '../engine/sql-database.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { acquire } from './acquire.ts';
import { appendAll } from './append-all.ts';
import { eventsOf, joinRows } from './event-packs.ts';
import { finishTurn } from './finish-turn.ts';
import { Follower } from './follower.ts';
import { CHANNEL } from './put-postgres.ts';
import { MAX_SEQ, readNews, toEntry } from './read-news.ts';
import { RecentTimes } from './recent-times.ts';
import { refusalOf } from './refusals.ts';
import { wholeData } from './shared-fields.ts';

export type SqlTurnLogOptions = {
  readonly clock: Clock;
  /** How often a reader polls; 1,000 ms when left out. */
  readonly sweepMs?: number;
  /** False: readers are not woken by what other processes store, they only poll. */
  readonly listens?: boolean;
};

export interface SqlTurnLog extends TurnLog {
  /**
   * Folds turns that have been idle for so long by the database's clock, the oldest first: their ends and the receipts
   * of their writes are kept, what they streamed is deleted. A turn without an end is taken to have lost its owner and
   * is over with that, unless a queue has it. Resolves to the number of folded turns, at most `limit`, 100 when left out.
   */
  foldOldTurns(idleMs: number, limit?: number): Promise<number>;
  /** Shows readers of this process at once what it has stored past this log. */
  wake(turnId: string, lastSeq: number): void;
  /** For how many milliseconds readers have been waiting for what is stored. */
  lag(): number;
  /** What the database lately took for an append, as the 99th percentile, in milliseconds; 0 if there was none. */
  appendMs(): number;
}

const DEFAULT_SWEEP_MS = 1_000;
const DEFAULT_READ_LIMIT = 1_000;
const DEFAULT_FOLD_LIMIT = 100;
/** The events that show how a turn ended and what it wrote. */
const KEPT_KINDS = ['done', 'error', 'usage', 'write_session'];
/** A served turn ends with its `done` only: the next start takes it up, however late. */
const MAY_BE_FOLDED = 'folded_at is null and (state is null or finished_at is not null)';
/** An index has this of the turns that may be folded, so that the young ones are not read. */
const NOT_IDLE_BEFORE = 'coalesce(finished_at, created_at, 0)';

/**
 * The turn log in a database.
 *
 * 1. An acquire takes the turn with an epoch that the database makes. It is higher than any before, and two copies of
 *    one database do not make the same one twice.
 * 2. Nothing of an earlier owner is stored after an acquire, and nothing at all after the end of a turn.
 * 3. A reader sees numbers in order, each once, and none that could still be rolled back.
 * 4. What is old is decided by the database's clock.
 * 5. Folding an unfinished turn also ends it, but for a served one, which is not folded before its end.
 */
export function createSqlTurnLog(database: SqlDatabase, options: SqlTurnLogOptions): SqlTurnLog {
  const { clock, sweepMs = DEFAULT_SWEEP_MS, listens = true } = options;
  const reported = reportRefusals(database);
  const follower = new Follower({
    clock,
    sweepMs,
    read: (cursors, maxBytes) => readNews(reported, cursors, maxBytes),
    listen: (tell) => (listens ? database.listen(CHANNEL, tell) : () => undefined),
  });
  const times = new RecentTimes(clock);
  const append = async (appends: readonly TurnAppend[]): Promise<readonly AppendOutcome[]> => {
    const outcomes = await times.measure(() => appendAll(database, appends));
    for (const [index, { turnId }] of appends.entries()) {
      const outcome = outcomes[index];
      if (outcome?.kind === 'stored') follower.wake(turnId, outcome.lastSeq);
    }
    return outcomes;
  };

  return {
    acquire: (...turn) => acquire(reported, ...turn),

    async append(turnId, epoch, expectSeq, events) {
      const one = { turnId, epoch, expectSeq, events };
      const [outcome] = await append([one]);
      if (outcome?.kind === 'stored') return outcome.lastSeq;
      throw refusalOf(one, outcome ?? { kind: 'fenced' });
    },

    appendAll: append,

    async finish(last, conversation, complete) {
      const outcome = await finishTurn(database, { append: last, conversation, complete });
      if (outcome.kind === 'stored') follower.wake(last.turnId, outcome.lastSeq);
      return outcome;
    },

    async requestCancel(turnId) {
      const asked = await reported.run(
        `update turn set cancel_requested_at = coalesce(cancel_requested_at, ${databaseNow(database.dialect)})
         where turn_id = $1 and finished_at is null`,
        [turnId],
      );
      return asked > 0;
    },

    read: (turnId, afterSeq, limit = DEFAULT_READ_LIMIT) =>
      readEntries(reported, turnId, afterSeq, limit),

    follow: (turns, signal) => follower.follow(turns, signal),

    async *tail(turnId, afterSeq, signal) {
      const after = { seq: afterSeq, epoch: null };
      for await (const news of follower.follow([{ turnId, after }], signal)) {
        if (news.kind === 'event') yield news.entry;
      }
    },

    async epochOf(turnId) {
      const [row] = await reported.all('select epoch from turn where turn_id = $1', [turnId]);
      return Number(row?.['epoch'] ?? 0);
    },

    wake: (turnId, lastSeq) => follower.wake(turnId, lastSeq),

    lag: () => follower.lag(),

    appendMs: () => times.percentile(0.99),

    foldOldTurns: (idleMs, limit = DEFAULT_FOLD_LIMIT) => foldOldTurns(reported, idleMs, limit),
  };
}

async function readEntries(
  database: SqlDatabase,
  turnId: string,
  afterSeq: number,
  limit: number,
): Promise<readonly TurnLogEntry[]> {
  const rows = await database.all(
    `select seq, event.epoch, kind, ${wholeData(database.dialect, 'event')} as data, stored_at
     from turn ${joinRows(database.dialect)}
     where turn_id = $1 and seq > $2 order by seq limit $3::bigint`,
    [turnId, Math.min(afterSeq, MAX_SEQ), Math.max(0, limit)],
  );
  return rows
    .flatMap(eventsOf)
    .filter(({ seq }) => seq > afterSeq)
    .slice(0, Math.max(0, limit))
    .map((event) => toEntry(turnId, event));
}

async function foldOldTurns(database: SqlDatabase, idleMs: number, limit: number): Promise<number> {
  const now = databaseNow(database.dialect);
  const turns = await database.all(
    `select turn_no from turn where ${MAY_BE_FOLDED}
       and ${NOT_IDLE_BEFORE} < ${now} - $1::bigint and active_at < ${now} - $1::bigint
     order by ${NOT_IDLE_BEFORE} limit $2::bigint`,
    [idleMs, limit],
  );
  const kept = KEPT_KINDS.map((kind) => `'${kind}'`).join(', ');
  const recent = database.dialect === 'postgres' ? ', recent = null, recent_form = null' : '';
  let folded = 0;
  for (const { turn_no: turnNo = null } of turns) {
    // One at a time: a long fold must not block SQLite's writers.
    await database.transaction(async (inside) => {
      // First, because it ends the turn; one that has become active meanwhile is left alone.
      const taken = await inside.run(
        `update turn set folded_at = ${now}, finished_at = coalesce(finished_at, active_at),
           request = null, checkpoint = null${recent}
         where turn_no = $1 and active_at < ${now} - $2::bigint and ${MAY_BE_FOLDED}`,
        [turnNo, idleMs],
      );
      if (taken === 0) return;
      await inside.run(`delete from turn_event where turn_no = $1 and kind not in (${kept})`, [
        turnNo,
      ]);
      folded += 1;
    });
  }
  return folded;
}
