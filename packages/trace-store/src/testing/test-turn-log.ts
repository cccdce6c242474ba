import { createFakeClock } from '@orion/testkit';
import { afterEach, beforeEach } from 'vitest';
import { openPostgres } from '../engine/postgres.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { migrate } from '../migrations/migrate.ts';
import { createSqlTurnLog } from '../turn-log/sql-turn-log.ts';
import type { SqlTurnLog } from '../turn-log/sql-turn-log.ts';
import { useTestDatabase } from './test-database.ts';

/** A log in the Postgres database of a test file, and that database below it, opened anew for each test. */
export function useTurnLog(): {
  readonly url: () => string;
  readonly database: () => SqlDatabase;
  readonly log: () => SqlTurnLog;
} {
  const { url } = useTestDatabase();
  let database: SqlDatabase;
  let log: SqlTurnLog;
  beforeEach(async () => {
    database = await openPostgres(url());
    await migrate(database);
    log = createSqlTurnLog(database, { clock: createFakeClock() });
  });
  afterEach(() => database.close());
  return { url, database: () => database, log: () => log };
}
