import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

import { OrionError, sleep } from '@orion/contracts';
import type { Clock, ServingHold } from '@orion/contracts';
import { isUnavailable } from '../engine/sql-database.ts';
import type { DatabaseLock, LockOptions, SqlDatabase } from '../engine/sql-database.ts';
import { requireUsable } from '../migrations/migrate.ts';

/** A process that was killed may need a moment until its lock is gone. */
const ATTEMPTS = 10;
const PAUSE_MS = 100;
/** How often a lock that is gone is asked for again. */
const RETAKE_MS = 1_000;

/**
 * Makes this process the one that serves the store, or one of those with the same `sharedBy`, until it releases it or dies.
 * Rejects with STORE_IN_USE, which names the process that does; of several it names the one that came last.
 *
 * 1. A lock of the system or of the database decides; what is written beside it only names who has it.
 * 2. A lock that went with its connection is taken again. It is lost when another process wrote its name meanwhile: our
 *    own earlier connection may hold it for a while. Where the store is shared that one is not in the way, and another
 *    name says nothing.
 * 3. The lock is held before the schema is looked at, and a step of the schema looks at the lock: a server and a step that
 *    it cannot work with do not pass each other.
 */
export async function holdServing(
  database: SqlDatabase,
  clock: Clock,
  options: LockOptions = {},
): Promise<ServingHold> {
  const id = randomUUID();
  const lost = new AbortController();
  const released = new AbortController();
  let lock = await firstLock(database, clock, options);
  const { isOnly } = lock;

  const takeAgain = async (): Promise<void> => {
    while (!released.signal.aborted) {
      const again = await database.takeLock(options).catch(() => 'away' as const);
      if (again !== null && again !== 'away') {
        lock = again;
        watch();
        await lookAgain();
        return;
      }
      if (again === null && (options.sharedBy !== undefined || (await isTaken(database, id)))) {
        lost.abort(await inUse(database));
        return;
      }
      await sleep(clock, RETAKE_MS, released.signal);
    }
  };
  /** While nobody held the store, a newer program may have taken a step of the schema that this one cannot work with. */
  const lookAgain = async (): Promise<void> => {
    while (!released.signal.aborted) {
      try {
        await database.transaction(requireUsable, { isLimited: false });
        return;
      } catch (error) {
        if (released.signal.aborted) return;
        if (!isUnavailable(error)) {
          lost.abort(error);
          return;
        }
      }
      await sleep(clock, RETAKE_MS, released.signal);
    }
  };
  const watch = (): void => {
    lock.gone.addEventListener('abort', () => void takeAgain(), { once: true });
    if (released.signal.aborted) void lock.release();
  };

  watch();
  try {
    await database.transaction(
      async (inside) => {
        await requireUsable(inside);
        await inside.run('delete from serving');
        await inside.run('insert into serving (id, pid, host) values ($1, $2, $3)', [
          id,
          process.pid,
          hostname(),
        ]);
      },
      { isLimited: false },
    );
  } catch (error) {
    released.abort();
    await lock.release();
    throw error;
  }
  return {
    isOnly,
    lost: lost.signal,
    async announce(url) {
      await database.run('update serving set url = $1 where id = $2', [url, id]);
    },
    async release() {
      released.abort();
      await database.run('delete from serving where id = $1', [id]).catch(() => undefined);
      await lock.release();
    },
  };
}

async function firstLock(
  database: SqlDatabase,
  clock: Clock,
  options: LockOptions,
): Promise<DatabaseLock> {
  for (let attempt = 1; ; attempt += 1) {
    const lock = await database.takeLock(options);
    if (lock !== null) return lock;
    if (attempt === ATTEMPTS) throw await inUse(database);
    await sleep(clock, PAUSE_MS);
  }
}

/** Whether another process has written its name. False while the database does not answer. */
async function isTaken(database: SqlDatabase, id: string): Promise<boolean> {
  try {
    const [row] = await database.all('select id from serving');
    return row !== undefined && row['id'] !== id;
  } catch {
    return false;
  }
}

async function inUse(database: SqlDatabase): Promise<OrionError> {
  const [row] = await database.all('select pid, host, url from serving').catch(() => []);
  const { pid = null, host = null, url = null } = row ?? {};
  const where = url === null ? 'another server' : `the server at ${url}`;
  const which = pid === null ? '' : ` (process ${pid} on ${host})`;
  return new OrionError({
    code: 'STORE_IN_USE',
    message: `The store is in use by ${where}${which}`,
    details: { pid, host, url },
  });
}
