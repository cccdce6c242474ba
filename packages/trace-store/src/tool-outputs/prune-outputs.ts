import type { SqlDatabase } from '../engine/sql-database.ts';

export type OutputLimits = {
  /** The time now, in milliseconds since the epoch. */
  readonly now: number;
  /** Outputs from before it are removed. */
  readonly before: number;
  /** So many bytes are kept of each project, the newest. */
  readonly maxBytes: number;
};

/** Removing that many outputs does not keep a writer waiting for long. */
const CHUNK = 20;
/** How long the id of a removed output is remembered. */
const REMEMBERED_MS = 365 * 86_400_000;

/**
 * Removes the oldest outputs, by age and by size for each project, and resolves to their ids. Their ids are remembered, so
 * that whoever asks for one learns that it is gone.
 */
export async function pruneOutputs(
  database: SqlDatabase,
  { now, before, maxBytes }: OutputLimits,
): Promise<readonly string[]> {
  const rows = await database.all(
    `select id from (
      select id, created_at,
        sum(stored_bytes) over (partition by project_id order by created_at desc, id desc) as total
      from tool_output where expired_at is null
    ) as sizes where created_at < $1 or total > $2 order by created_at, id`,
    [Math.ceil(before), maxBytes],
  );
  const ids = rows.map((row) => String(row['id']));
  for (let start = 0; start < ids.length; start += CHUNK) {
    const some = ids.slice(start, start + CHUNK);
    const places = some.map((_, index) => `$${index + 1}`).join(', ');
    await database.transaction(async (inside) => {
      await inside.run(`delete from tool_output_text where id in (${places})`, some);
      await inside.run(
        `update tool_output set expired_at = $${some.length + 1}, preview = '' where id in (${places})`,
        [...some, now],
      );
    });
  }
  await database.run('delete from tool_output where expired_at < $1', [now - REMEMBERED_MS]);
  return ids;
}
