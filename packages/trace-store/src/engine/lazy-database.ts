import { OrionError } from '@orion/contracts';
import { storeClosed } from './sql-database.ts';
import type { SqlDatabase } from './sql-database.ts';

/** So that a database that is away costs one attempt a second, not one for each call. */
const RETRY_MS = 1_000;

/**
 * A database that is opened by its first use.
 *
 * 1. Making it does nothing.
 * 2. Whoever comes while it is being opened waits for the same attempt.
 * 3. Closing ends an attempt that is under way, by the signal given to it.
 * 4. An attempt that failed is the answer for a second; then the next call tries again. What can never work is the
 *    answer for good.
 */
export function createLazyDatabase(
  dialect: SqlDatabase['dialect'],
  open: (closing: AbortSignal) => Promise<SqlDatabase>,
): SqlDatabase {
  let opening: Promise<SqlDatabase> | null = null;
  let failedAt = 0;
  let failure: Error | null = null;
  const closing = new AbortController();
  let closed = false;

  const get = async (): Promise<SqlDatabase> => {
    if (closed) throw storeClosed();
    if (opening !== null) return opening;
    if (failure !== null && (isFinal(failure) || performance.now() - failedAt < RETRY_MS)) {
      throw failure;
    }
    const mine = open(closing.signal);
    opening = mine;
    try {
      return await mine;
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
      failedAt = performance.now();
      opening = null;
      throw error;
    }
  };

  return {
    dialect,
    run: async (sql, parameters) => (await get()).run(sql, parameters),
    all: async (sql, parameters) => (await get()).all(sql, parameters),
    transaction: async (work) => (await get()).transaction(work),
    listen(channel, onMessage) {
      let stopped = false;
      let stop = (): void => undefined;
      get().then(
        (database) => {
          if (!stopped) stop = database.listen(channel, onMessage);
        },
        () => undefined,
      );
      return () => {
        stopped = true;
        stop();
      };
    },
    async close() {
      if (closed) return;
      closed = true;
      closing.abort();
      if (opening === null) return;
      const database = await opening.catch(() => null);
      await database?.close();
    },
  };
}

function isFinal(error: Error): boolean {
  return OrionError.isInstance(error) && error.code === 'STORE_TOO_NEW';
}
