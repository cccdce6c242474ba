import { storeUnavailable } from './sql-database.ts';
import type { SqlDatabase } from './sql-database.ts';

/** A database that is not there, for those who only read: every question has no rows for an answer. */
export function openEmptyDatabase(dialect: SqlDatabase['dialect']): SqlDatabase {
  const refuse = (): Promise<never> =>
    Promise.reject(storeUnavailable('The store was opened to be read', { retryable: false }));
  return {
    dialect,
    run: refuse,
    all: () => Promise.resolve([]),
    transaction: refuse,
    listen: () => () => undefined,
    close: () => Promise.resolve(),
  };
}
