import { OrionError } from '@orion/contracts';
import type { AppendOutcome, TurnAppend } from '@orion/contracts';
import { SqlRefusedError } from '../engine/sql-database.ts';
import type { SqlDatabase, SqlRow, SqlRunner } from '../engine/sql-database.ts';
import { eventsOf, joinRows } from './event-packs.ts';
import { putPostgres } from './put-postgres.ts';
import { putSqlite } from './put-sqlite.ts';
import { toPut } from './put.ts';
import type { Put } from './put.ts';
import { textOf, wholeData, wholeText } from './shared-fields.ts';

const DEADLOCK = '40P01';

/**
 * Appends to many turns at once, each with an outcome of its own.
 *
 * 1. The check of the owner, the check of the number, the check that the turn is not over and the append are atomic.
 * 2. What was not stored has changed nothing, and has not kept anything else from being stored.
 * 3. A repeat is recognised by its owner, numbers and content.
 */
export async function appendAll(
  database: SqlDatabase,
  appends: readonly TurnAppend[],
): Promise<readonly AppendOutcome[]> {
  if (new Set(appends.map(({ turnId }) => turnId)).size === appends.length) {
    try {
      return await appendTogether(database, appends);
    } catch (error) {
      const isRefused = error instanceof SqlRefusedError;
      if (isRefused && appends.length === 1) return [{ kind: 'refused', message: error.message }];
      if (appends.length === 1 || !(isRefused || isDeadlock(error))) throw error;
    }
  }
  // What the database refuses of one turn, it may store of another.
  const outcomes: AppendOutcome[] = [];
  for (const append of appends) outcomes.push(...(await appendAll(database, [append])));
  return outcomes;
}

/** One append, inside of a transaction. */
export async function appendInside(inside: SqlRunner, append: TurnAppend): Promise<AppendPlace> {
  const put = misplaced(append) === null ? toPut(append, inside.dialect) : null;
  const [row] =
    put === null
      ? []
      : await (inside.dialect === 'sqlite' ? putSqlite(inside, [put]) : putPostgres(inside, [put]));
  return row === undefined
    ? { isNew: false, outcome: await whyNot(inside, append) }
    : { isNew: true, outcome: outcomeOf(row) };
}

/** `isNew`: it was stored now, and is no repeat. */
export type AppendPlace = { readonly isNew: boolean; readonly outcome: AppendOutcome };

/** At most one append of each turn. */
async function appendTogether(
  database: SqlDatabase,
  appends: readonly TurnAppend[],
): Promise<readonly AppendOutcome[]> {
  const puts = appends
    .filter((append) => misplaced(append) === null)
    .map((append) => toPut(append, database.dialect));
  const rows = puts.length === 0 ? [] : await putAll(database, puts);
  const stored = new Map(rows.map((row) => [String(row['turn_id']), outcomeOf(row)]));
  const outcomes: AppendOutcome[] = [];
  for (const append of appends) {
    outcomes.push(stored.get(append.turnId) ?? (await whyNot(database, append)));
  }
  return outcomes;
}

/** The first event whose number is not the expected one; null if there is none. */
export function misplaced({ expectSeq, events }: TurnAppend): number | null {
  const index = events.findIndex(({ seq }, place) => seq !== expectSeq + place);
  return index === -1 ? null : index;
}

/** The turns to which something was stored. */
function putAll(database: SqlDatabase, puts: readonly Put[]): Promise<readonly SqlRow[]> {
  if (database.dialect === 'sqlite') {
    return database.transaction((inside) => putSqlite(inside, puts));
  }
  return putPostgres(database, puts);
}

/** Why nothing of it was stored: another owner, a repeat, the end of the turn, or a gap. */
async function whyNot(runner: SqlRunner, append: TurnAppend): Promise<AppendOutcome> {
  const { turnId, epoch } = append;
  const [turn] = await runner.all(
    'select turn_no, epoch, last_seq, finished_at, cancel_requested_at from turn where turn_id = $1',
    [turnId],
  );
  if (turn?.['epoch'] !== epoch) return { kind: 'fenced' };
  if (misplaced(append) === null && (await isRepeat(runner, Number(turn['turn_no']), append))) {
    return outcomeOf(turn);
  }
  if (turn['finished_at'] !== null) return { kind: 'finished' };
  return { kind: 'gap', lastSeq: Number(turn['last_seq']) };
}

async function isRepeat(
  runner: SqlRunner,
  turnNo: number,
  { epoch, expectSeq, events }: TurnAppend,
): Promise<boolean> {
  if (events.length === 0) return false;
  // A pack has the number of its last event.
  const rows = await runner.all(
    `select seq, event.epoch, kind, stored_at, ${wholeData(runner.dialect, 'event')} as data
     from turn ${joinRows(runner.dialect)}
     where turn.turn_no = $1 and seq >= $2 order by seq limit $3`,
    [turnNo, expectSeq, events.length],
  );
  const stored = rows
    .flatMap(eventsOf)
    .filter(({ seq }) => seq >= expectSeq && seq < expectSeq + events.length);
  return (
    stored.length === events.length &&
    stored.every(
      (one, index) =>
        one.epoch === epoch &&
        one.kind === events[index]?.kind &&
        one.text === wholeText(textOf(events[index]?.data ?? null, runner.dialect)),
    )
  );
}

/** Nothing was stored, and a smaller transaction does not run into it again. */
function isDeadlock(error: unknown): boolean {
  return OrionError.isInstance(error) && error.details['reason'] === DEADLOCK;
}

function outcomeOf(turn: SqlRow): AppendOutcome {
  return {
    kind: 'stored',
    lastSeq: Number(turn['last_seq']),
    cancelRequested: turn['cancel_requested_at'] !== null,
  };
}
