import type { SqlDatabase } from '../engine/sql-database.ts';

export type TraceLimits = {
  /** Events before it go; milliseconds since the epoch. */
  readonly before?: number;
  /** About so many bytes of payload stay, the newest. */
  readonly maxBytes?: number;
};

/** A deletion of that many rows keeps no writer waiting for long. */
const CHUNK = 1_000;
/** What a row takes beside its payload, indexes included. */
const ROW_BYTES = 300;

/**
 * Removes the oldest events, by age and by size, and tells how many.
 *
 * 1. The newest stay: whatever goes by size is older than whatever stays.
 * 2. Rows go in chunks, each a transaction of its own, so that recording goes on beside it.
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

/** What the table takes on the disk, or the whole file that it is in: never less than its payload, and known at once. */
async function bytesInUse(database: SqlDatabase): Promise<number> {
  const [row] = await database.all(
    database.dialect === 'postgres'
      ? "select pg_total_relation_size('trace_event') as bytes"
      : `select (page_count - freelist_count) * page_size as bytes
        from pragma_page_count(), pragma_freelist_count(), pragma_page_size()`,
  );
  return Number(row?.['bytes'] ?? 0);
}

/** The newest event that no longer fits, when all newer ones are kept. */
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
