import type { JsonValue, TraceEvent } from '@orion/contracts';
import type { SqlRow, SqlScalar } from '../engine/sql-database.ts';
import { numberOf, textOf } from '../safety/json-values.ts';
import type { PreparedTrace } from '../safety/trace-event.ts';

/**
 * An event as a row, and back.
 *
 * 1. `raw` is exactly what was recorded; `body` is its projection for queries. Nearly always they are equal, and then
 *    the text is not sent twice: Postgres casts `raw`, SQLite keeps null (`coalesce(body, raw)`).
 * 2. `body`, `error` and `metadata` are serialised here and cast by the database, whatever they contain (R227): a driver
 *    would turn a list into a Postgres array and leave a text as it is.
 * 3. `uid` is unique to the row, so that a batch sent twice is stored once.
 */
export const TRACE_COLUMNS: readonly {
  readonly name: string;
  readonly type: 'text' | 'integer' | 'bigint' | 'jsonb';
  readonly valueOf: (trace: IdentifiedTrace) => SqlScalar;
}[] = [
  { name: 'type', type: 'text', valueOf: ({ event }) => event.type },
  { name: 'project_id', type: 'text', valueOf: ({ event }) => event.projectId },
  { name: 'request_id', type: 'text', valueOf: ({ event }) => event.requestId },
  { name: 'session_id', type: 'text', valueOf: ({ event }) => event.sessionId },
  { name: 'source', type: 'text', valueOf: ({ event }) => event.source },
  { name: 'summary', type: 'text', valueOf: ({ event }) => event.summary },
  { name: 'direction', type: 'text', valueOf: ({ event }) => event.direction },
  { name: 'tool_name', type: 'text', valueOf: ({ event }) => event.toolName },
  { name: 'phase_index', type: 'integer', valueOf: ({ event }) => event.phaseIndex },
  { name: 'cycle_index', type: 'integer', valueOf: ({ event }) => event.cycleIndex },
  { name: 'timestamp', type: 'bigint', valueOf: ({ event }) => event.timestamp },
  { name: 'body', type: 'jsonb', valueOf: ownBody },
  { name: 'error', type: 'jsonb', valueOf: ({ error }) => error },
  { name: 'metadata', type: 'jsonb', valueOf: ({ metadata }) => metadata },
  { name: 'truncated', type: 'integer', valueOf: ({ event }) => Number(event.truncated) },
  { name: 'uid', type: 'text', valueOf: ({ uid }) => uid },
  { name: 'raw', type: 'text', valueOf: ({ event }) => event.raw },
];

export type TraceRow = {
  /** In the order of `TRACE_COLUMNS`. */
  readonly values: readonly SqlScalar[];
  /** About how much memory the row takes. */
  readonly bytes: number;
};

type IdentifiedTrace = PreparedTrace & { readonly uid: string };

const ROW_BYTES = 500;

export function toTraceRow(prepared: PreparedTrace, uid: string): TraceRow {
  const trace = { ...prepared, uid };
  const { event, error, metadata } = prepared;
  const texts = [event.raw, ownBody(trace), error, metadata, event.summary];
  return {
    values: TRACE_COLUMNS.map(({ valueOf }) => valueOf(trace)),
    bytes: texts.reduce((bytes, text) => bytes + 2 * (text?.length ?? 0), ROW_BYTES),
  };
}

function ownBody({ event, body }: PreparedTrace): string | null {
  return body === event.raw ? null : body;
}

export function toTraceEvent(row: SqlRow): TraceEvent {
  const raw = textOf(row['raw']) ?? 'null';
  const direction = row['direction'];
  return {
    id: Number(row['id']),
    type: textOf(row['type']) ?? 'unknown',
    projectId: textOf(row['project_id']),
    requestId: textOf(row['request_id']),
    sessionId: textOf(row['session_id']),
    source: textOf(row['source']),
    summary: textOf(row['summary']),
    direction: direction === 'in' || direction === 'out' ? direction : null,
    toolName: textOf(row['tool_name']),
    phaseIndex: numberOf(row['phase_index']),
    cycleIndex: numberOf(row['cycle_index']),
    timestamp: Number(row['timestamp']),
    // A text that was cut is no longer JSON; its projection has the length of the whole.
    details: parse(raw) ?? parse(textOf(row['body'])) ?? null,
    error: parse(textOf(row['error'])) ?? null,
    metadata: parse(textOf(row['metadata'])) ?? null,
    raw,
    truncated: row['truncated'] === 1,
  };
}

function parse(json: string | null): JsonValue | undefined {
  if (json === null) return undefined;
  try {
    return JSON.parse(json) as JsonValue;
  } catch {
    return undefined;
  }
}
