import { describeTraceStoreContract } from '@orion/testkit';
import { afterAll } from 'vitest';
import { openPostgres } from '../engine/postgres.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { migrate } from '../migrations/migrate.ts';
import { useTestDatabase } from '../testing/test-database.ts';
import { createSqlTraceStore } from './sql-trace-store.ts';

const { url } = useTestDatabase();
let database: SqlDatabase | null = null;
let stores = 0;

afterAll(() => database?.close());

describeTraceStoreContract('postgres', async ({ clock }) => {
  if (database === null) {
    database = await openPostgres(url());
    await migrate(database);
  }
  await database.run('truncate trace_event');
  stores += 1;
  return createSqlTraceStore(database, { clock, createId: () => `w${stores}`, strict: true });
});
