import type { SqlDatabase } from '../engine/sql-database.ts';

export type TraceLimits = {
  /** Events before it are removed; milliseconds since the epoch. */
  readonly before?: number;
  /** About so many bytes of payload are kept, the newest. */
  readonly maxBytes?: number;
};

/** Deleting that many rows does not keep a writer waiting for long. */
const CHUNK = 1_000;
/** Bytes that a row takes in addition to its payload, indexes included. */
const ROW_BYTES = 300;

/**
 * Removes the oldest events, by age and by size. Resolves to their number.
 *
 * 1. The newest are kept: every event removed by size is older than every event kept.
 * 2. Rows are deleted in chunks, each its own transaction, so that recording continues meanwhile.
 */
export async function pruneTraces(database: SqlDatabase, limits: TraceLimits): Promise<number> {
  let removed = 0;
  if (limits.before !== undefined) {
    removed += await deleteInChunks(database, 'timestamp < $1', Math.ceil(limits.before));
  }
  if (limits.maxBytes !== undefined && (await bytesInUse(database)) > limits.maxBytes) {
    const last = await lastBeyond(database, limits.maxBytes);
    if (last !== null) removed += await deleteInChunks(database, 'id <= $1', last);
  }
  return removed;
}

/** The size of the table on disk, or of the whole file: never less than its payload, and known at once. */
async function bytesInUse(database: SqlDatabase): Promise<number> {
  const [row] = await database.all(
    database.dialect === 'postgres'
      ? "select pg_total_relation_size('trace_event') as bytes"
      : `select (page_count - freelist_count) * page_size as bytes
        from pragma_page_count(), pragma_freelist_count(), pragma_page_size()`,
  );
  return Number(row?.['bytes'] ?? 0);
}

/** The newest event that no longer fits if all newer ones are kept. */
async function lastBeyond(database: SqlDatabase, maxBytes: number): Promise<number | null> {
  const body =
    database.dialect === 'postgres' ? 'pg_column_size(body)' : 'coalesce(octet_length(body), 0)';
  const [row] = await database.all(
    `select max(id) as last from (
      select id, sum(octet_length(raw) + ${body} + ${ROW_BYTES}) over (order by id desc) as total
      from trace_event
    ) as sizes where total > $1`,
    [Math.floor(maxBytes)],
  );
  const last = row?.['last'];
  return typeof last === 'number' ? last : null;
}

async function deleteInChunks(
  database: SqlDatabase,
  condition: string,
  value: number,
): Promise<number> {
  let removed = 0;
  for (;;) {
    const gone = await database.run(
      `delete from trace_event where id in (
        select id from trace_event where ${condition} order by id limit ${CHUNK}
      )`,
      [value],
    );
    removed += gone;
    if (gone < CHUNK) return removed;
  }
}
