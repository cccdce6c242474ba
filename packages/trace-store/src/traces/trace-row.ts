import type { JsonValue, TraceEvent } from '@orion/contracts';
import type { SqlRow, SqlScalar } from '../engine/sql-database.ts';
import type { PreparedTrace } from '../safety/trace-event.ts';

/**
 * An event as a row, and back.
 *
 * 1. `raw` is what was recorded, exactly; `body` is its projection for queries. Nearly always `raw` is its own
 *    projection, and then it is not sent twice: Postgres casts it, SQLite keeps null (`coalesce(body, raw)`).
 * 2. `body`, `error` and `metadata` are serialised here and cast by the database, whatever they hold (R227): a driver
 *    would make an array of Postgres of a list and leave a text as it is.
 * 3. `uid` is the row's own, so that a batch sent twice is stored once.
 */
export const TRACE_COLUMNS: readonly {
  readonly name: string;
  readonly type: 'text' | 'integer' | 'bigint' | 'jsonb';
}[] = [
  { name: 'type', type: 'text' },
  { name: 'project_id', type: 'text' },
  { name: 'request_id', type: 'text' },
  { name: 'session_id', type: 'text' },
  { name: 'source', type: 'text' },
  { name: 'summary', type: 'text' },
  { name: 'direction', type: 'text' },
  { name: 'tool_name', type: 'text' },
  { name: 'phase_index', type: 'integer' },
  { name: 'cycle_index', type: 'integer' },
  { name: 'timestamp', type: 'bigint' },
  { name: 'body', type: 'jsonb' },
  { name: 'error', type: 'jsonb' },
  { name: 'metadata', type: 'jsonb' },
  { name: 'truncated', type: 'integer' },
  { name: 'uid', type: 'text' },
  { name: 'raw', type: 'text' },
];

export type TraceRow = {
  /** In the order of `TRACE_COLUMNS`. */
  readonly values: readonly SqlScalar[];
  /** About what the row holds in memory. */
  readonly bytes: number;
};

const ROW_BYTES = 500;

export function toTraceRow({ event, body, error, metadata }: PreparedTrace, uid: string): TraceRow {
  const ownBody = body === event.raw ? null : body;
  return {
    values: [
      event.type,
      event.projectId,
      event.requestId,
      event.sessionId,
      event.source,
      event.summary,
      event.direction,
      event.toolName,
      event.phaseIndex,
      event.cycleIndex,
      event.timestamp,
      ownBody,
      error,
      metadata,
      event.truncated ? 1 : 0,
      uid,
      event.raw,
    ],
    bytes:
      ROW_BYTES +
      2 *
        (event.raw.length +
          (ownBody?.length ?? 0) +
          (error?.length ?? 0) +
          (metadata?.length ?? 0) +
          (event.summary?.length ?? 0)),
  };
}

export function toTraceEvent(row: SqlRow): TraceEvent {
  const raw = text(row['raw']) ?? 'null';
  const direction = row['direction'];
  return {
    id: Number(row['id']),
    type: text(row['type']) ?? 'unknown',
    projectId: text(row['project_id']),
    requestId: text(row['request_id']),
    sessionId: text(row['session_id']),
    source: text(row['source']),
    summary: text(row['summary']),
    direction: direction === 'in' || direction === 'out' ? direction : null,
    toolName: text(row['tool_name']),
    phaseIndex: number(row['phase_index']),
    cycleIndex: number(row['cycle_index']),
    timestamp: Number(row['timestamp']),
    // A text that was cut is no JSON any more: the projection says how long it was.
    details: parse(raw) ?? parse(text(row['body'])) ?? null,
    error: parse(text(row['error'])) ?? null,
    metadata: parse(text(row['metadata'])) ?? null,
    raw,
    truncated: row['truncated'] === 1,
  };
}

function text(value: SqlScalar | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

function number(value: SqlScalar | undefined): number | null {
  return typeof value === 'number' ? value : null;
}

function parse(json: string | null): JsonValue | undefined {
  if (json === null) return undefined;
  try {
    return JSON.parse(json) as JsonValue;
  } catch {
    return undefined;
  }
}
