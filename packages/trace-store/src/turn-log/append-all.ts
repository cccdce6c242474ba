import { OrionError } from '@orion/contracts';
import type { AppendOutcome, TurnAppend } from '@orion/contracts';
import { databaseNow, insertAll, SqlRefusedError } from '../engine/sql-database.ts';
import type { SqlDatabase, SqlRow, SqlRunner, SqlValue } from '../engine/sql-database.ts';
import { epochOf, eventsOf, joinRows, PACK, PACK_BYTES, packOf } from './event-packs.ts';
import type { Pack } from './event-packs.ts';
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

type Put = {
  readonly turnId: string;
  readonly epoch: number;
  readonly afterSeq: number;
  /** How the turn ends, or the empty string if `done` does not say; null if it does not end. */
  readonly end: string | null;
  readonly checkpoint: string | null;
  /** Of the first event that has such a beginning. */
  readonly shared: string | null;
  /** The events, where they go into a pack. */
  readonly pack: Pack | null;
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
    pack: dialect === 'postgres' ? packOf(events, epoch) : null,
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
type PutColumns = Readonly<
  Record<'turnId' | 'epoch' | 'afterSeq' | 'events' | 'end' | 'checkpoint', string>
> & {
  /** What only one dialect has. */
  readonly more?: readonly string[];
  readonly from?: string;
};

/** Moves the end of a turn if, and only if, this owner may: the one place that makes the three checks. */
function moveEnd(dialect: SqlRunner['dialect'], put: PutColumns): string {
  const now = databaseNow(dialect);
  const { end, checkpoint, more = [] } = put;
  const assignments = [
    `last_seq = ${put.afterSeq} + ${put.events}`,
    `active_at = ${now}`,
    end && `finished_at = case when ${end} is null then turn.finished_at else ${now} end`,
    end && `status = coalesce(${end}, turn.status)`,
    end && `tokens = case when ${end} is null then turn.tokens else ${tokensOf(dialect)} end`,
    // The first checkpoint says where the turn begins, and not that it has come further.
    checkpoint &&
      `idle_attempts = case when ${checkpoint} is null or turn.checkpoint is null
         then turn.idle_attempts else 0 end`,
    // Nothing continues a turn that is over.
    (end || checkpoint) &&
      `checkpoint = case when ${end || 'null'} is null
         then coalesce(${checkpoint || 'null'}, turn.checkpoint) end`,
    ...more,
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
function moveOne({ turnId, epoch, afterSeq, events, end, checkpoint }: Put): {
  readonly sql: string;
  readonly parameters: SqlValue[];
} {
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
  };
  return { sql: moveEnd('sqlite', columns), parameters };
}

/** The turns to which something was stored. */
function putAll(database: SqlDatabase, puts: readonly Put[]): Promise<readonly SqlRow[]> {
  if (database.dialect === 'sqlite') {
    return database.transaction((inside) => putSqlite(inside, puts));
  }
  return putPostgres(database, puts);
}

async function putSqlite(inside: SqlRunner, puts: readonly Put[]): Promise<readonly SqlRow[]> {
  const moved: SqlRow[] = [];
  for (const put of puts) {
    const { sql, parameters } = moveOne(put);
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

/** An array as the database writes it: the driver does that element by element, and escapes each. */
function numbers(list: readonly number[]): string {
  return `{${list.join(',')}}`;
}

/** JSON has no line feed. */
function linesOf({ shared, events }: Put): readonly string[] {
  return events.map(({ text }) => storedText(text, shared));
}

/**
 * A single statement, so that a broken connection leaves all of it or nothing, and one answer is enough.
 *
 * A turn of another owner does not match and is not locked, so that two processes hardly ever lock each other out; they
 * are told, and try it turn by turn. To lock all turns first, in an order, would take a third more of Postgres.
 *
 * What a turn has not moved on yet is read beside its update. Both see the same, though another statement may come in
 * between: it changes only with the number of the last event or with the owner, and both are checked in both places.
 *
 * The statement has no name on the server, so that it is planned for these arrays each time: a plan for any of them is
 * several times slower. What no append of it needs is left out, since to plan it would take longer than to run it.
 */
function putPostgres(database: SqlRunner, puts: readonly Put[]): Promise<readonly SqlRow[]> {
  const [only] = puts.length === 1 ? puts : [];
  const parameters: SqlValue[] = [];
  const add = (value: SqlValue, type: string): string => `$${parameters.push(value)}::${type}`;
  const names: string[] = [];
  const values: string[] = [];
  const number = (name: string, type: string, of: (put: Put) => number): void => {
    names.push(name);
    values.push(only ? add(of(only), type) : add(numbers(puts.map(of)), `${type}[]`));
  };
  /** Empty where no append has such a text. */
  const text = (name: string, of: (put: Put) => string | null | undefined): string => {
    const texts = puts.map((put) => of(put) ?? null);
    const [first = null] = texts;
    if (texts.every((each) => each === null)) return '';
    names.push(name);
    values.push(only ? add(first, 'text') : add(texts, 'text[]'));
    return `placed.${name}`;
  };
  text('turn_id', ({ turnId }) => turnId);
  number('epoch', 'bigint', ({ epoch }) => epoch);
  number('after_seq', 'integer', ({ afterSeq }) => afterSeq);
  number('events', 'integer', ({ events }) => events.length);
  const end = text('turn_end', (put) => put.end);
  const checkpoint = text('checkpoint', (put) => put.checkpoint);
  const shared = text('shared', (put) => put.shared);
  const form = text('form', ({ pack }) => pack?.form);
  const contents = text('contents', ({ pack }) => pack?.contents);

  const batch = only
    ? `select ${values.map((value, index) => `${value} as ${names[index]}`).join(', ')}, 1 as place`
    : `select * from unnest(${values.join(', ')}) with ordinality as given (${names.join(', ')}, place)`;
  const isEvent = 'placed.events > 0';
  const whole = storedData('batch.form', 'batch.shared', 'coalesce(before.shared, batch.shared)');
  const packed = {
    form: form && (shared ? whole : 'batch.form'),
    line: `${databaseNow('postgres')} || ${contents}`,
  };
  const move = moveEnd('postgres', {
    turnId: 'placed.turn_id',
    epoch: 'placed.epoch',
    afterSeq: 'placed.after_seq',
    events: 'placed.events',
    end,
    checkpoint,
    more: [
      shared && `shared = coalesce(turn.shared, ${shared})`,
      `recent_form = case when ${isEvent} then placed.stored_form else turn.recent_form end`,
      contents === ''
        ? `recent = case when ${isEvent} then null else turn.recent end`
        : `recent = case when placed.joins then ${packed.line} || chr(10) || turn.recent
             when ${isEvent} then ${packed.line} else turn.recent end`,
    ],
    from: 'from placed',
  });
  const told = only
    ? {
        before: '',
        as: only.events.length === 0 ? '' : `, pg_notify('${CHANNEL}', turn_no || '.' || last_seq)`,
      }
    : {
        before: `, news as (
           select string_agg(turn_no || '.' || last_seq, ',') as turns from moved where events > 0
         ), told as (
           select pg_notify('${CHANNEL}', case when length(turns) <= ${MAX_NOTIFICATION} then turns else '*' end)
           from news where turns is not null
         )`,
        as: ', (select count(*) from told) as told',
      };
  const rows = puts.flatMap(({ pack, events }, index) =>
    pack === null ? events.map((event) => ({ ...event, place: index + 1 })) : [],
  );
  const lines = puts.flatMap((put) => (put.pack === null ? linesOf(put) : []));
  const stored =
    rows.length === 0
      ? ''
      : `union all
         select moved.turn_no, moved.epoch, moved.active_at, event.seq, event.kind,
           ${storedData('event.data', 'moved.given', 'moved.shared')}
         from unnest(${add(numbers(rows.map(({ place }) => place)), 'integer[]')},
           ${add(numbers(rows.map(({ seq }) => seq)), 'integer[]')},
           ${add(
             rows.map(({ kind }) => kind),
             'text[]',
           )},
           string_to_array(${add(lines.join('\n'), 'text')}, chr(10))) as event (place, seq, kind, data)
         join moved on moved.place = event.place`;
  return database.all(
    `with batch as (${batch}), placed as (
       select batch.*, before.turn_no, before.recent as former, before.recent_form as former_form,
         before.active_at as former_at, ${packed.form || 'null::text'} as stored_form,
         ${
           form === ''
             ? 'false'
             : `before.recent_form = ${packed.form}
                and octet_length(before.recent) + octet_length(batch.contents) <= ${PACK_BYTES}`
         } as joins
       from batch join turn as before on before.turn_id = batch.turn_id
         and before.epoch = batch.epoch and before.last_seq = batch.after_seq
     ), moved as (
       ${move}, turn.shared, ${shared || 'null::text'} as given, placed.place, placed.after_seq,
         placed.events, placed.former, placed.former_form, placed.former_at, placed.joins
     ), stored as (
       insert into turn_event (turn_no, epoch, stored_at, seq, kind, data)
       select turn_no, ${epochOf('former_form')}, former_at, after_seq, '${PACK}', former_form || chr(10) || former
       from moved where events > 0 and former is not null and joins is not true
       ${stored}
     )${told.before}
     select turn_id, last_seq, cancel_requested_at${told.as} from moved`,
    parameters,
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
