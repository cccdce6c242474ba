import type { JsonObject, JsonValue } from '@orion/contracts';
import type { SqlRunner } from '../engine/sql-database.ts';

/**
 * What every event of a turn repeats: its ids and its protocol. In Postgres the row of the turn has it once, as the beginning of a JSON object, and
 * the events only have what follows, behind a mark: it is most of what an event with some words of text takes.
 *
 * 1. The text of an event is JSON, or the mark and what follows the beginning that the row of its turn has.
 * 2. That beginning is written with the first event that has one, and never changes. An event with another one is stored
 *    whole.
 */

/** No JSON begins with it. */
const MARK = '~';

/** A text of JSON, in two parts if it has all that is shared. */
export type EventText = { readonly shared: string | null; readonly rest: string };

export function textOf(data: JsonValue, dialect: SqlRunner['dialect']): EventText {
  if (dialect === 'sqlite' || data === null || typeof data !== 'object' || Array.isArray(data))
    return whole(data);
  const { requestId, projectId, conversationId, protocol, ...rest } = data as JsonObject;
  const shared = { requestId, projectId, conversationId, protocol };
  const text = JSON.stringify(rest);
  if (text === '{}' || Object.values(shared).some((field) => typeof field !== 'string'))
    return whole(data);
  return { shared: `${JSON.stringify(shared).slice(0, -1)},`, rest: text.slice(1) };
}

function whole(data: JsonValue): EventText {
  return { shared: null, rest: JSON.stringify(data) };
}

export function wholeText({ shared, rest }: EventText): string {
  return shared === null ? rest : shared + rest;
}

/** For a turn with that beginning. */
export function storedText(text: EventText, shared: string | null): string {
  return text.shared !== null && text.shared === shared ? MARK + text.rest : wholeText(text);
}

/**
 * The SQL of what is stored of a text whose mark refers to `given`: that is part of it if the turn has another beginning.
 */
export function storedData(data: string, given: string, shared: string): string {
  return `case when ${shared} = ${given} then ${data} else ${withShared(data, given)} end`;
}

/** The SQL of a whole text; `shared` is the SQL of the beginning to which the mark refers. */
function withShared(data: string, shared: string): string {
  return `case when left(${data}, 1) = '${MARK}' then ${shared} || substr(${data}, 2) else ${data} end`;
}

/** The SQL of the text of an event, of a row of `turn_event` beside that of its turn. */
export function wholeData(dialect: SqlRunner['dialect'], event = 'turn_event'): string {
  return dialect === 'postgres' ? withShared(`${event}.data`, 'turn.shared') : `${event}.data`;
}
