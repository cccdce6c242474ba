import { databaseNow } from '../engine/sql-database.ts';
import type { SqlRow, SqlRunner, SqlValue } from '../engine/sql-database.ts';
import { epochOf, PACK, PACK_BYTES } from './event-packs.ts';
import { moveEnd } from './put.ts';
import type { Put } from './put.ts';
import { storedData, storedText } from './shared-fields.ts';

/** Names the turns that have new events as `<turn_no>.<last_seq>`, or `*` for many. */
export const CHANNEL = 'orion_turn';
/** A notification may have 8,000 bytes. */
const MAX_NOTIFICATION = 7_999;

/**
 * The turns to which something was stored. A single statement, so that a broken connection leaves all of it or nothing, and one answer is enough.
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
export function putPostgres(database: SqlRunner, puts: readonly Put[]): Promise<readonly SqlRow[]> {
  const parameters: SqlValue[] = [];
  const { batch, end, checkpoint, shared, form, contents } = batchOf(puts, parameters);
  const isEvent = 'placed.events > 0';
  const line = `${databaseNow('postgres')} || placed.contents`;
  const move = moveEnd('postgres', {
    turnId: 'placed.turn_id',
    epoch: 'placed.epoch',
    afterSeq: 'placed.after_seq',
    events: 'placed.events',
    end: end && 'placed.turn_end',
    checkpoint: checkpoint && 'placed.checkpoint',
    more: [
      shared && 'shared = coalesce(turn.shared, placed.shared)',
      `recent_form = case when ${isEvent} then placed.stored_form else turn.recent_form end`,
      contents
        ? `recent = case when placed.joins then ${line} || chr(10) || turn.recent
             when ${isEvent} then ${line} else turn.recent end`
        : `recent = case when ${isEvent} then null else turn.recent end`,
    ],
    from: 'from placed',
  });
  const storedForm =
    form && shared
      ? storedData('batch.form', 'batch.shared', 'coalesce(before.shared, batch.shared)')
      : form && 'batch.form';
  const joins = `before.recent_form = ${storedForm}
    and octet_length(before.recent) + octet_length(batch.contents) <= ${PACK_BYTES}`;
  const { news, told } = notification(puts);
  return database.all(
    `with batch as (${batch}), placed as (
       select batch.*, before.turn_no, before.recent as former, before.recent_form as former_form,
         before.active_at as former_at, ${storedForm || 'null::text'} as stored_form,
         ${form ? joins : 'false'} as joins
       from batch join turn as before on before.turn_id = batch.turn_id
         and before.epoch = batch.epoch and before.last_seq = batch.after_seq
     ), moved as (
       ${move}, turn.shared, ${shared ? 'placed.shared' : 'null::text'} as given, placed.place,
         placed.after_seq, placed.events, placed.former, placed.former_form, placed.former_at, placed.joins
     ), stored as (
       insert into turn_event (turn_no, epoch, stored_at, seq, kind, data)
       select turn_no, ${epochOf('former_form')}, former_at, after_seq, '${PACK}', former_form || chr(10) || former
       from moved where events > 0 and former is not null and joins is not true
       ${rowsOf(puts, parameters)}
     )${news}
     select turn_id, last_seq, cancel_requested_at${told} from moved`,
    parameters,
  );
}

/** The appends as rows; the names of columns are empty where no append has such a text. */
function batchOf(
  puts: readonly Put[],
  parameters: SqlValue[],
): Readonly<Record<'batch' | 'end' | 'checkpoint' | 'shared' | 'form' | 'contents', string>> {
  const isOne = puts.length === 1;
  const names: string[] = [];
  const values: string[] = [];
  const column = (
    name: string,
    type: string,
    list: readonly (string | number | null)[],
  ): string => {
    if (list.every((each) => each === null)) return '';
    names.push(name);
    const array = type === 'text' ? list : numbers(list);
    values.push(
      `$${parameters.push(isOne ? (list[0] ?? null) : array)}::${type}${isOne ? '' : '[]'}`,
    );
    return name;
  };
  const text = (name: string, of: (put: Put) => string | null | undefined): string =>
    column(
      name,
      'text',
      puts.map((put) => of(put) ?? null),
    );
  text('turn_id', ({ turnId }) => turnId);
  column(
    'epoch',
    'bigint',
    puts.map(({ epoch }) => epoch),
  );
  column(
    'after_seq',
    'integer',
    puts.map(({ afterSeq }) => afterSeq),
  );
  column(
    'events',
    'integer',
    puts.map(({ events }) => events.length),
  );
  const texts = {
    end: text('turn_end', ({ end }) => end),
    checkpoint: text('checkpoint', ({ checkpoint }) => checkpoint),
    shared: text('shared', ({ shared }) => shared),
    form: text('form', ({ pack }) => pack?.form),
    contents: text('contents', ({ pack }) => pack?.contents),
  };
  const batch = isOne
    ? `select ${values.map((value, index) => `${value} as ${names[index]}`).join(', ')}, 1 as place`
    : `select * from unnest(${values.join(', ')}) with ordinality as given (${names.join(', ')}, place)`;
  return { batch, ...texts };
}

/** The events that go into no pack, as further rows to be stored. */
function rowsOf(puts: readonly Put[], parameters: SqlValue[]): string {
  const rows = puts.flatMap(({ pack, events, shared }, index) =>
    pack === null ? events.map((event) => ({ ...event, shared, place: index + 1 })) : [],
  );
  if (rows.length === 0) return '';
  const add = (value: SqlValue, type: string): string => `$${parameters.push(value)}::${type}`;
  const places = add(numbers(rows.map(({ place }) => place)), 'integer[]');
  const seqs = add(numbers(rows.map(({ seq }) => seq)), 'integer[]');
  const kinds = rows.map(({ kind }) => kind);
  // JSON has no line feed.
  const data = rows.map(({ text, shared }) => storedText(text, shared)).join('\n');
  return `union all
    select moved.turn_no, moved.epoch, moved.active_at, event.seq, event.kind,
      ${storedData('event.data', 'moved.given', 'moved.shared')}
    from unnest(${places}, ${seqs}, ${add(kinds, 'text[]')}, string_to_array(${add(data, 'text')}, chr(10)))
      as event (place, seq, kind, data)
    join moved on moved.place = event.place`;
}

/** The expressions that tell readers of the turns that have news. */
function notification(puts: readonly Put[]): { readonly news: string; readonly told: string } {
  if (puts.length === 1) {
    const told = `, pg_notify('${CHANNEL}', turn_no || '.' || last_seq)`;
    return { news: '', told: puts[0]?.events.length === 0 ? '' : told };
  }
  const news = `, news as (
      select string_agg(turn_no || '.' || last_seq, ',') as turns from moved where events > 0
    ), told as (
      select pg_notify('${CHANNEL}', case when length(turns) <= ${MAX_NOTIFICATION} then turns else '*' end)
      from news where turns is not null
    )`;
  return { news, told: ', (select count(*) from told) as told' };
}

/** An array as the database writes it: the driver does that element by element, and escapes each. */
function numbers(list: readonly (string | number | null)[]): string {
  return `{${list.join(',')}}`;
}
