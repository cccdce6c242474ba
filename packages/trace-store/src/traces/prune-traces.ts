import type { SqlDatabase } from '../engine/sql-database.ts';

export type TraceLimits = {
  /** Events before it are removed; milliseconds since the epoch. */
  readonly before?: number;
  /** About so many bytes of payload are kept, the newest. */
  readonly maxBytes?: number;
};

/** Deleting that many rows does not keep a writer waiting for long. */
const CHUNK = 1_000;
/** Events whose sizes one statement adds up. */
const PAGE = 5_000;
/** Bytes that a row takes in addition to its payload, indexes included. */
const ROW_BYTES = 300;

/**
 * Removes the oldest events, by age and by size. Resolves to their number.
 *
 * 1. The newest are kept: every event removed by size is older than every event kept.
 * 2. Rows are deleted in chunks, each its own transaction, so that recording continues meanwhile.
 * 3. Sizes are added up from the newest on, page by page: one statement over all events would not end in its time once
 *    there are too many, and they would only become more.
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
  const body = database.dialect === 'postgres' ? 'pg_column_size(body)' : 'octet_length(body)';
  let room = Math.floor(maxBytes);
  for (let before = Number.MAX_SAFE_INTEGER; ;) {
    const [page] = await database.all(
      `select max(case when total > $2 then id end) as last, min(id) as oldest, max(total) as bytes from (
        select id, sum(bytes) over (order by id desc) as total from (
          select id, octet_length(raw) + coalesce(${body}, 0) + ${ROW_BYTES} as bytes
          from trace_event where id < $1 order by id desc limit ${PAGE}
        ) as newest
      ) as sizes`,
      [before, room],
    );
    const { last = null, oldest = null, bytes = 0 } = page ?? {};
    if (last !== null) return Number(last);
    if (oldest === null) return null;
    before = Number(oldest);
    room -= Number(bytes);
  }
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
