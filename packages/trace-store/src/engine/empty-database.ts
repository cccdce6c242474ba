import { storeUnavailable } from './sql-database.ts';
import type { SqlDatabase } from './sql-database.ts';

/** Stands in for a missing database when the store is only read: every query returns no rows. */
export function openEmptyDatabase(dialect: SqlDatabase['dialect']): SqlDatabase {
  const refuse = (): Promise<never> =>
    Promise.reject(storeUnavailable('The store was opened for reading', { retryable: false }));
  return {
    dialect,
    run: refuse,
    all: (sql) => (sql.includes('returning') ? refuse() : Promise.resolve([])),
    transaction: refuse,
    listen: () => () => undefined,
    takeLock: refuse,
    close: () => Promise.resolve(),
  };
}
