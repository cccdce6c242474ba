import { insertStatement, whereAll } from '../engine/sql-database.ts';
import type { SqlRunner, SqlValue } from '../engine/sql-database.ts';
import type { StoredFilter } from '../safety/trace-event.ts';
import { TRACE_COLUMNS } from './trace-row.ts';
import type { TraceRow } from './trace-row.ts';

export type Statement = { readonly sql: string; readonly parameters: readonly SqlValue[] };

/** SQLite prepares a statement for each number of rows, so only a few numbers are used. */
const SQLITE_SIZES = [100, 20, 5, 1] as const;
/** Costs a tenth of an insert, so only repeats have it; the second of two inserts then changes nothing. */
const ONCE = ' on conflict (uid) do nothing';

const COLUMNS = TRACE_COLUMNS.map(({ name }) => name);
const NAMES = COLUMNS.join(', ');
/** All but the last column, which is the longest by far: see `postgresInsert`. */
const ARRAYS = TRACE_COLUMNS.slice(0, -1);

const sqliteInsert = remembered((rows) => insertStatement('trace_event', COLUMNS, rows));

/**
 * One array per column, but for `raw` one parameter per row, so that it is neither escaped here nor parsed there.
 * Postgres uses `raw` as `body` where that is null.
 */
const postgresInsert = remembered((rows) => {
  const types = ARRAYS.map(({ type }) => (type === 'jsonb' ? 'text' : type));
  const arrays = types.map((type, index) => `$${index + 1}::${type}[]`);
  const raw = Array.from({ length: rows }, (_, row) => `$${ARRAYS.length + row + 1}::text`);
  const values = TRACE_COLUMNS.map(({ name, type }) => {
    if (name === 'body') return 'coalesce(body, raw)::jsonb';
    return type === 'jsonb' ? `${name}::jsonb` : name;
  });
  return `insert into trace_event (${NAMES})
    select ${values.join(', ')}
    from unnest(${arrays.join(', ')}, array[${raw.join(', ')}]) with ordinality as batch (${NAMES}, position)
    order by position`;
});

/** A statement for each number of rows, made once. */
function remembered(make: (rows: number) => string): (rows: number) => string {
  const statements = new Map<number, string>();
  return (rows) => {
    const sql = statements.get(rows) ?? make(rows);
    statements.set(rows, sql);
    return sql;
  };
}

/** How many of that many rows one statement inserts. */
export function batchSize(dialect: SqlRunner['dialect'], rows: number): number {
  if (dialect === 'postgres') return rows;
  return SQLITE_SIZES.find((size) => size <= rows) ?? 1;
}

/** `repeated` if some of the rows may already be stored. */
export function insertRows(
  dialect: SqlRunner['dialect'],
  rows: readonly TraceRow[],
  repeated: boolean,
): Statement {
  const once = repeated ? ONCE : '';
  if (dialect === 'postgres') {
    return {
      sql: `${postgresInsert(rows.length)}${once}`,
      parameters: [
        ...ARRAYS.map((_, column) => rows.map((row) => row.values[column] ?? null)),
        ...rows.map((row) => row.values[ARRAYS.length] ?? null),
      ],
    };
  }
  return {
    sql: `${sqliteInsert(rows.length)}${once}`,
    parameters: rows.flatMap((row) => row.values),
  };
}

export const SELECT_LAST_ID = 'select coalesce(max(id), 0) as last from trace_event';

/** Which of the events that match, and in which order: `desc` has the newest first. */
export type Range = {
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  /** The numbers between which they lie; the event numbered `last` is one of them, the one numbered `after` is not. */
  readonly after?: number;
  readonly last?: number;
};

export function selectEvents(filter: StoredFilter, range: Range): Statement {
  const { order, limit, after, last } = range;
  const { from, to, afterId, beforeId } = filter;
  const parameters: SqlValue[] = [];
  const where = whereAll(
    {
      'id >': maximum(after, afterId),
      'id <=': last,
      'id <': beforeId,
      'project_id =': filter.projectId,
      'request_id =': filter.requestId,
      'session_id =': filter.sessionId,
      'type =': filter.type,
      'timestamp >=': from === undefined ? undefined : wholeNumber(Math.ceil(from)),
      'timestamp <=': to === undefined ? undefined : wholeNumber(Math.floor(to)),
    },
    parameters,
  );
  return {
    sql: `select id, ${NAMES} from trace_event ${where} order by id ${order} limit $${parameters.push(limit)}`,
    parameters,
  };
}

function maximum(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.max(one, other);
}

/** Limits a number to the range of the column: no event lies outside of it. */
function wholeNumber(value: number): number {
  if (Number.isNaN(value)) return 0;
  return Math.min(Math.max(value, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}
