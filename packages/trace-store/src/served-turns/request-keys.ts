import type { KeyOutcome, RequestKey } from '@orion/contracts';
import { databaseNow } from '../engine/sql-database.ts';
import type { SqlRunner } from '../engine/sql-database.ts';

const KEPT_MS = 24 * 3_600_000;

/** Takes a key, or finds what it was taken for. One statement decides, so that two at once do not both take it. */
export async function claimKey(
  runner: SqlRunner,
  projectId: string,
  { key, route, bodySha256 }: RequestKey,
  made: string,
  unmade: string | null = null,
): Promise<KeyOutcome> {
  const now = databaseNow(runner.dialect);
  const taken = await runner.run(
    `insert into request_key (project_id, key, route, body_sha256, made, created_at)
     values ($1, $2, $3, $4, $5, ${now})
     on conflict (project_id, key) do update set route = excluded.route,
       body_sha256 = excluded.body_sha256, made = excluded.made, created_at = excluded.created_at
     where request_key.created_at < ${now} - ${KEPT_MS} or request_key.made = $6::text`,
    [projectId, key, route, bodySha256, made, unmade],
  );
  if (taken > 0) return { kind: 'new' };
  const [row] = await runner.all(
    'select route, body_sha256, made from request_key where project_id = $1 and key = $2',
    [projectId, key],
  );
  // Nobody but the pruning removes a row, and not one that was just found.
  if (row === undefined)
    return claimKey(runner, projectId, { key, route, bodySha256 }, made, unmade);
  const first = String(row['made']);
  if (row['route'] !== route || row['body_sha256'] !== bodySha256)
    return { kind: 'mismatch', route: String(row['route']), made: first };
  return first === made ? { kind: 'new' } : { kind: 'repeated', made: first };
}

export async function pruneKeys(runner: SqlRunner): Promise<void> {
  await runner.run(
    `delete from request_key where created_at < ${databaseNow(runner.dialect)} - ${KEPT_MS}`,
  );
}
