import type { TraceFilter } from '@orion/contracts';
import { insertStatement, whereAll } from '../engine/sql-database.ts';
import type { SqlRunner, SqlValue } from '../engine/sql-database.ts';
import { TRACE_COLUMNS } from './trace-row.ts';
import type { TraceRow } from './trace-row.ts';

export type Statement = { readonly sql: string; readonly parameters: readonly SqlValue[] };

/** SQLite prepares a statement for each number of rows: few numbers, few statements. */
const SQLITE_SIZES = [100, 20, 5, 1] as const;
/** Costs a tenth of an insert, so that only a repeat has it; whichever of two comes second changes nothing. */
const ONCE = ' on conflict (uid) do nothing';

const NAMES = TRACE_COLUMNS.map(({ name }) => name).join(', ');
const SQLITE_INSERTS: ReadonlyMap<number, string> = new Map(
  SQLITE_SIZES.map((size) => [
    size,
    insertStatement(
      'trace_event',
      TRACE_COLUMNS.map(({ name }) => name),
      size,
    ),
  ]),
);
/** The last column is the longest by far: see `postgresInsert`. */
const ARRAYS = TRACE_COLUMNS.slice(0, -1);
const postgresInserts = new Map<number, string>();

/**
 * One array for each column, and for `raw` one parameter for each row: so it is neither escaped here nor parsed
 * there. Postgres makes `body` of it where there is no other.
 */
function postgresInsert(rows: number): string {
  const known = postgresInserts.get(rows);
  if (known !== undefined) return known;
  const types = ARRAYS.map(({ type }) => (type === 'jsonb' ? 'text' : type));
  const arrays = types.map((type, index) => `$${index + 1}::${type}[]`);
  const raw = Array.from({ length: rows }, (_, row) => `$${ARRAYS.length + row + 1}::text`);
  const values = TRACE_COLUMNS.map(({ name, type }) => {
    if (name === 'body') return 'coalesce(body, raw)::jsonb';
    return type === 'jsonb' ? `${name}::jsonb` : name;
  });
  const sql = `insert into trace_event (${NAMES})
    select ${values.join(', ')}
    from unnest(${arrays.join(', ')}, array[${raw.join(', ')}]) with ordinality as batch (${NAMES}, position)
    order by position`;
  postgresInserts.set(rows, sql);
  return sql;
}

/** How many of the waiting rows one statement takes. */
export function batchSize(
  dialect: SqlRunner['dialect'],
  waiting: number,
  batchRows: number,
): number {
  const wanted = Math.min(waiting, batchRows);
  if (dialect === 'postgres') return wanted;
  return SQLITE_SIZES.find((size) => size <= wanted) ?? 1;
}

/** `repeated` when some of the rows may have gone in before. */
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
  const sql = SQLITE_INSERTS.get(rows.length);
  if (sql === undefined) throw new Error(`No statement inserts ${rows.length} rows`);
  return { sql: `${sql}${once}`, parameters: rows.flatMap((row) => row.values) };
}

/** The newest events that match, newest first. */
export function selectEvents(filter: TraceFilter, limit: number): Statement {
  return select(filter, {}, 'desc', limit);
}

/** The oldest events that match between two numbers, the second one included, oldest first. */
export function selectPage(
  filter: TraceFilter,
  between: { readonly after: number; readonly last: number },
  limit: number,
): Statement {
  return select(filter, between, 'asc', limit);
}

export const SELECT_LAST_ID = 'select coalesce(max(id), 0) as last from trace_event';

function select(
  filter: TraceFilter,
  { after, last }: { readonly after?: number; readonly last?: number },
  order: 'asc' | 'desc',
  limit: number,
): Statement {
  const { from, to } = filter;
  const parameters: SqlValue[] = [];
  const where = whereAll(
    {
      'id >': after,
      'id <=': last,
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

/** Within what a column holds: beyond it nothing is stored, before or after which an event could be. */
function wholeNumber(value: number): number {
  if (Number.isNaN(value)) return 0;
  return Math.min(Math.max(value, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}
