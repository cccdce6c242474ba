import { describeTraceStoreContract } from '@orion/testkit';
import { openSqlite } from '../engine/sqlite.ts';
import { migrate } from '../migrations/migrate.ts';
import { createSqlTraceStore } from './sql-trace-store.ts';

const never = (): Promise<never> => new Promise(() => undefined);

describeTraceStoreContract(
  'sqlite',
  async ({ clock }) => {
    const database = await openSqlite(':memory:');
    await migrate(database);
    return createSqlTraceStore(database, { clock, createId: () => 'writer', strict: true });
  },
  {
    hanging: async ({ clock }) => {
      const database = await openSqlite(':memory:');
      const hung = { ...database, run: never, all: never, transaction: never };
      return createSqlTraceStore(hung, { clock, createId: () => 'writer' });
    },
  },
);
