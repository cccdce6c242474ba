import { OrionError } from '@orion/contracts';
import type { AppendOutcome, TurnAppend } from '@orion/contracts';
import { databaseNow, insertAll, SqlRefusedError } from '../engine/sql-database.ts';
import type { SqlDatabase, SqlRow, SqlRunner, SqlValue } from '../engine/sql-database.ts';
import { storedData, storedText, textOf, wholeData, wholeText } from './shared-fields.ts';
import type { EventText } from './shared-fields.ts';

/** Names the turns that have new events as `<turn_no>.<last_seq>`, or `*` for many. */
export const CHANNEL = 'orion_turn';
/** A notification may have 8,000 bytes. */
const MAX_NOTIFICATION = 7_999;
const DEADLOCK = '40P01';
/** Of one request. */
const MAX_TOKENS = 1_000_000_000;

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
      : await (inside.dialect === 'sqlite' ? putSqlite(inside, [put]) : putOne(inside, put));
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

type Put = {
  readonly turnId: string;
  readonly epoch: number;
  readonly afterSeq: number;
  /** How the turn ends, or the empty string if `done` does not say; null if it does not end. */
  readonly end: string | null;
  readonly checkpoint: string | null;
  /** Of the first event that has such a beginning. */
  readonly shared: string | null;
  readonly events: readonly {
    readonly seq: number;
    readonly kind: string;
    readonly text: EventText;
  }[];
};

function toPut(
  { turnId, epoch, expectSeq, events, checkpoint }: TurnAppend,
  dialect: SqlRunner['dialect'],
): Put {
  const put = events.map(({ seq, kind, data }) => ({ seq, kind, text: textOf(data, dialect) }));
  return {
    turnId,
    epoch,
    afterSeq: expectSeq - 1,
    end: endOf(events),
    checkpoint: checkpoint === undefined ? null : JSON.stringify(checkpoint),
    shared: put.find(({ text }) => text.shared !== null)?.text.shared ?? null,
    events: put,
  };
}

function endOf(events: TurnAppend['events']): string | null {
  const done = events.find(({ kind }) => kind === 'done');
  if (done === undefined) return null;
  const { data } = done;
  const status = data !== null && typeof data === 'object' && 'status' in data ? data.status : '';
  return typeof status === 'string' ? status : '';
}

/** SQL expressions for what is appended to a turn; those that may be null are empty where they are. */
type PutColumns = { readonly [Column in keyof Put]: string } & { readonly from?: string };

/** Moves the end of a turn if, and only if, this owner may: the one place that makes the three checks. */
function moveEnd(dialect: SqlRunner['dialect'], put: PutColumns): string {
  const now = databaseNow(dialect);
  const { end, checkpoint, shared } = put;
  const assignments = [
    `last_seq = ${put.afterSeq} + ${put.events}`,
    `active_at = ${now}`,
    end && `finished_at = case when ${end} is null then turn.finished_at else ${now} end`,
    end && `status = coalesce(${end}, turn.status)`,
    shared && `shared = coalesce(turn.shared, ${shared})`,
    end && `tokens = case when ${end} is null then turn.tokens else ${tokensOf(dialect)} end`,
    // The first checkpoint says where the turn begins, and not that it has come further.
    checkpoint &&
      `idle_attempts = case when ${checkpoint} is null or turn.checkpoint is null
         then turn.idle_attempts else 0 end`,
    // Nothing continues a turn that is over.
    (end || checkpoint) &&
      `checkpoint = case when ${end || 'null'} is null
         then coalesce(${checkpoint || 'null'}, turn.checkpoint) end`,
  ];
  return `update turn set ${assignments.filter((each) => each !== '').join(', ')}
    ${put.from ?? ''}
    where turn.turn_id = ${put.turnId} and turn.epoch = ${put.epoch}
      and turn.last_seq = ${put.afterSeq} and turn.finished_at is null
    returning turn.turn_no, turn.turn_id, turn.epoch, turn.last_seq, turn.active_at,
      turn.cancel_requested_at`;
}

/** What its requests to models have used. A number that a provider invents keeps no turn from ending. */
function tokensOf(dialect: SqlRunner['dialect']): string {
  const whole = wholeData(dialect, 'spent');
  const count = (name: string): string => {
    const text =
      dialect === 'sqlite' ? `json_extract(data, '$.${name}')` : `(${whole})::json ->> '${name}'`;
    const type =
      dialect === 'sqlite'
        ? `json_type(data, '$.${name}') in ('integer', 'real')`
        : `json_typeof((${whole})::json -> '${name}') = 'number'`;
    const number = dialect === 'sqlite' ? text : `(${text})::numeric`;
    return `case when ${type} and ${number} between 0 and ${MAX_TOKENS} then cast(${number} as bigint) else 0 end`;
  };
  return `(select coalesce(sum(${count('inputTokens')} + ${count('outputTokens')}), 0)
    from turn_event as spent where spent.turn_no = turn.turn_no and spent.kind = 'usage')`;
}

/** The statement for one turn, shorter where nothing but text is appended. */
function moveOne(
  dialect: SqlRunner['dialect'],
  { turnId, epoch, afterSeq, events, end, checkpoint, shared }: Put,
): { readonly sql: string; readonly parameters: SqlValue[] } {
  const parameters: SqlValue[] = [turnId, epoch, afterSeq, events.length];
  const add = (value: string | null): string =>
    value === null ? '' : `$${parameters.push(value)}::text`;
  const columns = {
    turnId: '$1',
    epoch: '$2::bigint',
    afterSeq: '$3::integer',
    events: '$4::integer',
    end: add(end),
    checkpoint: add(checkpoint),
    shared: dialect === 'postgres' ? add(shared) : '',
  };
  return { sql: moveEnd(dialect, columns), parameters };
}

/** The turns to which something was stored. */
function putAll(database: SqlDatabase, puts: readonly Put[]): Promise<readonly SqlRow[]> {
  if (database.dialect === 'sqlite') {
    return database.transaction((inside) => putSqlite(inside, puts));
  }
  const [first] = puts;
  return first !== undefined && puts.length === 1
    ? putOne(database, first)
    : putGroup(database, puts);
}

async function putSqlite(inside: SqlRunner, puts: readonly Put[]): Promise<readonly SqlRow[]> {
  const moved: SqlRow[] = [];
  for (const put of puts) {
    const { sql, parameters } = moveOne('sqlite', put);
    const [row] = await inside.all(sql, parameters);
    if (row === undefined) continue;
    moved.push(row);
    const { turn_no: turnNo = null, active_at: storedAt = null } = row;
    await insertAll(
      inside,
      'turn_event',
      ['turn_no', 'epoch', 'stored_at', 'seq', 'kind', 'data'],
      put.events.map(({ seq, kind, text }) => [
        turnNo,
        put.epoch,
        storedAt,
        seq,
        kind,
        wholeText(text),
      ]),
    );
  }
  return moved;
}

// On Postgres each is a single statement, so that a broken connection leaves all of it or nothing, and one answer is
// enough.

/** An array as the database writes it: the driver does that element by element, and escapes each. */
function numbers(list: readonly number[]): string {
  return `{${list.join(',')}}`;
}

/** JSON has no line feed. */
function linesOf({ shared, events }: Put): readonly string[] {
  return events.map(({ text }) => storedText(text, shared));
}

function fromLines(parameter: string): string {
  return `string_to_array(${parameter}::text, chr(10))`;
}

function putOne(database: SqlRunner, put: Put): Promise<readonly SqlRow[]> {
  const { sql, parameters } = moveOne('postgres', put);
  const add = (value: SqlValue): string => `$${parameters.push(value)}`;
  const seqs = add(numbers(put.events.map(({ seq }) => seq)));
  const kinds = add(put.events.map(({ kind }) => kind));
  const data = add(linesOf(put).join('\n'));
  const shared = add(put.shared);
  const told =
    put.events.length === 0 ? '' : `, pg_notify('${CHANNEL}', turn_no || '.' || last_seq)`;
  return database.all(
    `with moved as (
       ${sql}, turn.shared
     ), stored as (
       insert into turn_event (turn_no, epoch, stored_at, seq, kind, data)
       select moved.turn_no, moved.epoch, moved.active_at, event.seq, event.kind,
         ${storedData('event.data', `${shared}::text`, 'moved.shared')}
       from moved, unnest(${seqs}::integer[], ${kinds}::text[], ${fromLines(data)}) as event (seq, kind, data)
     )
     select turn_id, last_seq, cancel_requested_at${told} from moved`,
    parameters,
  );
}

/**
 * A turn of another owner does not match and is not locked, so that two processes hardly ever lock each other out; they
 * are told, and try it turn by turn. To lock all turns first, in an order, would take a third more of Postgres.
 *
 * The statement has no name on the server, so that it is planned for these arrays each time: a plan for any of them is
 * several times slower.
 */
function putGroup(database: SqlDatabase, puts: readonly Put[]): Promise<readonly SqlRow[]> {
  const move = moveEnd('postgres', {
    turnId: 'batch.turn_id',
    epoch: 'batch.epoch',
    afterSeq: 'batch.after_seq',
    events: 'batch.events',
    end: 'batch.turn_end',
    checkpoint: 'batch.checkpoint',
    shared: 'batch.shared',
    from: 'from batch',
  });
  const events = puts.flatMap((put) => put.events);
  const places = puts.flatMap((put, index) => put.events.map(() => index + 1));
  return database.all(
    `with batch as (
       select * from unnest(
           $1::text[], $2::bigint[], $3::integer[], $4::integer[], $5::text[], $6::text[], $11::text[])
         with ordinality as given (turn_id, epoch, after_seq, events, turn_end, checkpoint, shared, place)
     ), moved as (
       ${move}, turn.shared, batch.shared as given, batch.events, batch.place
     ), stored as (
       insert into turn_event (turn_no, epoch, stored_at, seq, kind, data)
       select moved.turn_no, moved.epoch, moved.active_at, event.seq, event.kind,
         ${storedData('event.data', 'moved.given', 'moved.shared')}
       from unnest($7::integer[], $8::integer[], $9::text[], ${fromLines('$10')})
         as event (place, seq, kind, data)
       join moved on moved.place = event.place
     ), news as (
       select string_agg(turn_no || '.' || last_seq, ',') as turns from moved where events > 0
     ), told as (
       select pg_notify('${CHANNEL}', case when length(turns) <= ${MAX_NOTIFICATION} then turns else '*' end)
       from news where turns is not null
     )
     select turn_id, last_seq, cancel_requested_at, (select count(*) from told) as told from moved`,
    [
      puts.map(({ turnId }) => turnId),
      numbers(puts.map(({ epoch }) => epoch)),
      numbers(puts.map(({ afterSeq }) => afterSeq)),
      numbers(puts.map((put) => put.events.length)),
      puts.map(({ end }) => end),
      puts.map(({ checkpoint }) => checkpoint),
      numbers(places),
      numbers(events.map(({ seq }) => seq)),
      events.map(({ kind }) => kind),
      puts.flatMap(linesOf).join('\n'),
      puts.map(({ shared }) => shared),
    ],
  );
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
  const rows = await runner.all(
    `select turn_event.epoch, kind, ${wholeData(runner.dialect)} as data
     from turn_event join turn on turn.turn_no = turn_event.turn_no
     where turn_event.turn_no = $1 and seq between $2 and $3 order by seq`,
    [turnNo, expectSeq, expectSeq + events.length - 1],
  );
  return (
    rows.length === events.length &&
    rows.every(
      (row, index) =>
        row['epoch'] === epoch &&
        row['kind'] === events[index]?.kind &&
        row['data'] === wholeText(textOf(events[index]?.data ?? null, runner.dialect)),
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
