import type { JsonObject, JsonValue, TurnAppend } from '@orion/contracts';
import type { SqlRow, SqlRunner } from '../engine/sql-database.ts';
import { storedText, textOf, wholeText } from './shared-fields.ts';
import type { EventText } from './shared-fields.ts';

/**
 * What a model says arrives in many small events. In Postgres the latest of them stay in the row of their turn, which
 * every append changes anyway, and move to `turn_event` together, as one row: a pack. So most appends touch no index and
 * no other table.
 *
 * 1. `turn.recent` has the last events of a turn, up to `last_seq`, and `turn.recent_form` what they have in common; both
 *    are null if the last event is in no pack. They change with `last_seq` only, or when the turn is folded.
 * 2. The form is the text of such an event with a tab for its content, a tab, and the epoch of its owner. `recent` has a
 *    line for each append, the newest first, since Postgres then writes ahead only what is new: when it was stored, and
 *    the contents of its events as a JSON array.
 * 3. The row of a pack has the number and the epoch of its last event, and as its text the form and the lines. Without
 *    the numbers between two events nothing is a pack: a folded turn has none.
 * 4. Events of other kinds are in no pack: they differ in more than their content, and statements look for them.
 */

/** The kind of a row that is a pack. */
export const PACK = '~chunks';
/** The lines of a pack; an append with more becomes rows. */
export const PACK_BYTES = 500;
/** Postgres moves a part of a row that is longer than 2,000 bytes to another table. */
const MAX_FORM_BYTES = 300;
const KIND = 'chunk';
/** JSON has no raw one. */
const HOLE = '\t';
const JSON_OF_HOLE = '"content":"\\t"';

export type Pack = {
  readonly form: string;
  /** A JSON array. */
  readonly contents: string;
};

/** The events of an append that have a form in common; null if they become rows. */
export function packOf(events: TurnAppend['events'], epoch: number): Pack | null {
  const [first, ...others] = events.map(withHole);
  if (first === null || first === undefined) return null;
  if (others.some((other) => other === null || wholeText(other) !== wholeText(first))) return null;
  const form = `${withoutContent(storedText(first, first.shared))}${HOLE}${epoch}`;
  const contents = JSON.stringify(events.map(({ data }) => (data as JsonObject)['content']));
  const fits = Buffer.byteLength(contents) < PACK_BYTES && Buffer.byteLength(form) < MAX_FORM_BYTES;
  return fits ? { form, contents } : null;
}

/** The text of an event that has nothing but its content, and fields that contain no others; null of another one. */
function withHole({ kind, data }: TurnAppend['events'][number]): EventText | null {
  if (kind !== KIND || data === null || typeof data !== 'object' || Array.isArray(data))
    return null;
  const fields = data as JsonObject;
  if (typeof fields['content'] !== 'string' || Object.values(fields).some(isNested)) return null;
  return textOf({ ...fields, content: HOLE }, 'postgres');
}

/** A quote within a name or a string has a backslash before it, so the content is found in its place only. */
function withoutContent(text: string): string {
  return text.replace(JSON_OF_HOLE, `"content":${HOLE}`);
}

function isNested(value: JsonValue | undefined): boolean {
  return typeof value === 'object' && value !== null;
}

/** The SQL of the epoch in a form. */
export function epochOf(form: string): string {
  return `split_part(${form}, chr(9), 3)::bigint`;
}

/** The SQL of all rows of a row of `turn` beside it, as `event`: in `turn_event`, and what is still in its own. */
export function joinRows(dialect: SqlRunner['dialect']): string {
  return dialect === 'sqlite'
    ? 'join turn_event as event on event.turn_no = turn.turn_no'
    : `cross join lateral ${ROWS} as event`;
}

/** In Postgres. */
export const ROWS: string = `(select seq, epoch, kind, stored_at, data
    from turn_event where turn_event.turn_no = turn.turn_no
    union all
    select turn.last_seq, ${epochOf('turn.recent_form')}, '${PACK}', turn.active_at,
      turn.recent_form || chr(10) || turn.recent
    where turn.recent is not null)`;

export type StoredEvent = {
  readonly seq: number;
  readonly epoch: number;
  readonly kind: string;
  readonly storedAt: number;
  /** JSON. */
  readonly text: string;
};

/** The events of a row, in order; its text is whole. */
export function eventsOf(row: SqlRow): readonly StoredEvent[] {
  const { seq: last, epoch, kind, stored_at: storedAt, data } = row;
  const event = { seq: Number(last), epoch: Number(epoch), kind: String(kind) };
  if (event.kind !== PACK) return [{ ...event, storedAt: Number(storedAt), text: String(data) }];
  const [form = '', ...lines] = String(data).split('\n');
  const [before = '', after = ''] = form.split(HOLE);
  const contents = lines.reverse().flatMap((line) => {
    const at = line.indexOf('[');
    return (JSON.parse(line.slice(at)) as string[]).map((content) => ({
      storedAt: Number(line.slice(0, at)),
      text: `${before}${JSON.stringify(content)}${after}`,
    }));
  });
  const first = event.seq - contents.length + 1;
  return contents.map((each, index) => ({ ...event, ...each, kind: KIND, seq: first + index }));
}
