import { describeTraceStoreContract } from '@orion/testkit';
import { openSqlite } from '../engine/sqlite.ts';
import { migrate } from '../migrations/migrate.ts';
import { createSqlTraceStore } from './sql-trace-store.ts';

describeTraceStoreContract('sqlite', async ({ clock }) => {
  const database = await openSqlite(':memory:');
  await migrate(database);
  return createSqlTraceStore(database, { clock, createId: () => 'writer', strict: true });
});
