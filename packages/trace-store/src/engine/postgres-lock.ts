import type { Client } from 'pg';
import type { DatabaseLock, LockOptions } from './sql-database.ts';

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
    const { rows } = await client.query<{ taken: string }>(
      `select pg_try_advisory_lock${sharedBy === undefined ? '' : '_shared'}($1::bigint) as taken`,
      [SERVING_LOCK],
    );
    const isTaken = rows[0]?.taken === 't';
    const others = isTaken && sharedBy !== undefined ? await otherHolders(client) : [];
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

/** The name under which a connection shares the lock: the server shows it of each one that has it. */
export function nameOfSharer(sharedBy: string): string {
  return `orion ${sharedBy}`;
}

/** Asked while the lock is held: of two that must not share it, at least the second one sees the other. */
async function otherHolders(client: Client): Promise<readonly { readonly same: string | null }[]> {
  const { rows } = await client.query<{ same: string | null }>(
    `select application_name = current_setting('application_name') as same
     from pg_locks join pg_stat_activity using (pid)
     where locktype = 'advisory' and granted and pid <> pg_backend_pid()
       and pg_locks.database = (select oid from pg_database where datname = current_database())
       and (classid::bigint << 32) + objid::bigint = $1::bigint and objsubid = 1`,
    [SERVING_LOCK],
  );
  return rows;
}
