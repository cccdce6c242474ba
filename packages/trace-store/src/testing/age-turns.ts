import type { SqlRunner } from '../engine/sql-database.ts';

/** As if everything had happened so many milliseconds earlier, in all turns or in this one. */
export async function ageTurns(
  database: SqlRunner,
  milliseconds: number,
  turnId: string | null = null,
): Promise<void> {
  await database.run(
    `update turn set active_at = active_at - $1::bigint, created_at = created_at - $1::bigint,
       finished_at = finished_at - $1::bigint
     where $2::text is null or turn_id = $2::text`,
    [milliseconds, turnId],
  );
}
