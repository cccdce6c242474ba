import { OrionError } from '@orion/contracts';
import { onAbort, RolledBack, SqlRefusedError, storeClosed } from './sql-database.ts';
import type { SqlDatabase } from './sql-database.ts';

/** An unreachable database costs one attempt per second, not one per call. */
const RETRY_MS = 1_000;

/**
 * Sees every attempt to use a database as it begins: opening it, or a call to it once it is open. An attempt rejects
 * if its outcome is unknown or the database cannot be used. A refused statement counts as answered, and so does a
 * transaction that undid itself.
 */
export type DatabaseObserver = (attempt: Promise<unknown>, kind: 'opening' | 'call') => void;

/** How opening a database is ended: `closing` grants pending work a moment, `cut` does not. */
export type OpeningSignals = { readonly closing: AbortSignal; readonly cut: AbortSignal };

/**
 * A database that its first use opens.
 *
 * 1. Creating it does nothing.
 * 2. Calls that arrive while it is being opened wait for the same attempt.
 * 3. Closing ends a pending attempt through the signals passed to it.
 * 4. A failed attempt is the answer for one second; the next call after that tries again. A failure that can never
 *    resolve itself is final.
 */
export function createLazyDatabase(
  dialect: SqlDatabase['dialect'],
  open: (signals: OpeningSignals) => Promise<SqlDatabase>,
  observe: DatabaseObserver = () => undefined,
): SqlDatabase {
  let opening: Promise<SqlDatabase> | null = null;
  let failedAt = 0;
  let failure: Error | null = null;
  const closing = new AbortController();
  const cutting = new AbortController();
  let ended: Promise<void> | null = null;

  const get = async (): Promise<SqlDatabase> => {
    if (ended !== null) throw storeClosed();
    if (opening !== null) return opening;
    if (failure !== null && (isFinal(failure) || performance.now() - failedAt < RETRY_MS)) {
      throw failure;
    }
    const mine = open({ closing: closing.signal, cut: cutting.signal });
    opening = mine;
    observe(mine, 'opening');
    try {
      return await mine;
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
      failedAt = performance.now();
      opening = null;
      throw error;
    }
  };

  const call = async <Result>(use: (database: SqlDatabase) => Promise<Result>): Promise<Result> => {
    const result = use(await get());
    const attempt = result.catch(throwUnlessAnswered);
    // The caller gets the failure through `result`.
    attempt.catch(() => undefined);
    observe(attempt, 'call');
    return result;
  };

  const end = async (): Promise<void> => {
    closing.abort();
    const database = await opening?.catch(() => null);
    await database?.close(cutting.signal);
  };

  return {
    dialect,
    run: (sql, parameters) => call((database) => database.run(sql, parameters)),
    all: (sql, parameters) => call((database) => database.all(sql, parameters)),
    transaction: (work, options) => call((database) => database.transaction(work, options)),
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
    takeLock: (options) => call((database) => database.takeLock(options)),
    raw: (text, values) =>
      call((database) => database.raw?.(text, values) ?? Promise.reject(notPostgres())),
    async close(cut) {
      const forget = onAbort(cut, () => {
        cutting.abort();
      });
      await (ended ??= end());
      forget();
    },
  };
}

function notPostgres(): Error {
  return new TypeError('Only Postgres takes statements as they are.');
}

function throwUnlessAnswered(error: unknown): void {
  if (!(error instanceof SqlRefusedError || error instanceof RolledBack)) throw error;
}

function isFinal(error: Error): boolean {
  return OrionError.isInstance(error) && error.code === 'STORE_TOO_NEW';
}
