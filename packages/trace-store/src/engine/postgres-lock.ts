import type { Client } from 'pg';
import { MIGRATIONS } from '../migrations/migrations.ts';
import type { DatabaseLock, LockOptions, SqlRunner } from './sql-database.ts';

/** Any number that nobody else uses for an advisory lock in the same database. */
const SERVING_LOCK = 7_306_127_450_214;

/** An advisory lock lasts as long as the connection that took it: one of its own, which does nothing else. */
export async function takeAdvisoryLock(
  client: Client,
  { sharedBy }: LockOptions = {},
): Promise<DatabaseLock | null> {
  const gone = new AbortController();
  client.on('error', () => gone.abort());
  client.on('end', () => gone.abort());
  const release = async (): Promise<void> => {
    await client.end().catch(() => undefined);
  };
  try {
    await client.connect();
    await requirePrimary(client);
    const { rows } = await client.query<{ taken: string }>(
      `select pg_try_advisory_lock${sharedBy === undefined ? '' : '_shared'}($1::bigint) as taken`,
      [SERVING_LOCK],
    );
    const isTaken = rows[0]?.taken === 't';
    const others = isTaken && sharedBy !== undefined ? await otherHolders(client, sharedBy) : [];
    if (isTaken && others.every(({ same }) => same === 't'))
      return { isOnly: others.length === 0, gone: gone.signal, release };
  } catch (error) {
    // Ending a connection that was never made, or is gone, may hang: do not wait for it.
    void release();
    throw error;
  }
  await release();
  return null;
}

/** A standby gives locks of its own, which say nothing about the primary. */
async function requirePrimary(client: Client): Promise<void> {
  const { rows } = await client.query<{ standby: string }>('select pg_is_in_recovery() as standby');
  if (rows[0]?.standby === 't') throw new Error('it is a standby, which takes no changes');
}

/**
 * The name of a connection that has the lock, which the server shows to others: with whom it is shared, and which schema
 * this program knows. At most 63 characters.
 */
export function nameOfHolder({ sharedBy = '-' }: LockOptions): string {
  return `orion ${sharedBy} ${MIGRATIONS.length}`;
}

const SHARED_BY = "split_part(application_name, ' ', 2)";
const SCHEMA = "split_part(application_name, ' ', 3)";

/** $1 is the lock. */
const HOLDERS = `from pg_locks join pg_stat_activity using (pid)
  where locktype = 'advisory' and granted and pid <> pg_backend_pid()
    and pg_locks.database = (select oid from pg_database where datname = current_database())
    and (classid::bigint << 32) + objid::bigint = $1::bigint and objsubid = 1`;

/** Asked while the lock is held: of two that must not share it, at least the second one sees the other. */
async function otherHolders(
  client: Client,
  sharedBy: string,
): Promise<readonly { readonly same: string | null }[]> {
  const { rows } = await client.query<{ same: string | null }>(
    `select ${SHARED_BY} = $2 as same ${HOLDERS}`,
    [SERVING_LOCK, sharedBy],
  );
  return rows;
}

/** The oldest schema that a program which serves the store knows: 0 if one does not say, null if none serves. */
export async function oldestServing(runner: SqlRunner): Promise<number | null> {
  const [row] = await runner.all(
    `select min(case when ${SCHEMA} ~ '^[0-9]{1,9}$' then ${SCHEMA}::integer else 0 end) as oldest ${HOLDERS}`,
    [SERVING_LOCK],
  );
  const oldest = row?.['oldest'] ?? null;
  return oldest === null ? null : Number(oldest);
}
