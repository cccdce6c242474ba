import {
  describeApprovalsContract,
  describeConversationStoreContract,
  describeServedTurnsContract,
  describeToolOutputStoreContract,
  describeTurnEndContract,
  describeTurnLogContract,
} from '@orion/testkit';
import type { Clock } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { describe } from 'vitest';
import { openPostgres } from './engine/postgres.ts';
import { openSqlite } from './engine/sqlite.ts';
import { createMemoryTraceStore } from './memory/memory-trace-store.ts';
import { migrate } from './migrations/migrate.ts';
import { ADDS } from './testing/newer-steps.ts';
import { useTestDatabase } from './testing/test-database.ts';
import { openStore } from './open-store.ts';
import type { Store } from './open-store.ts';
import { storeOver } from './store-over.ts';

type Open = (parts: { readonly clock: Clock }) => Promise<Store>;

const own = useTestDatabase();
const newer = useTestDatabase();

function describeStore(name: string, open: Open): void {
  describeTurnLogContract(name, open);
  describeTurnEndContract(name, open);
  describeApprovalsContract(name, open);
  describeServedTurnsContract(name, open);
  describeConversationStoreContract(name, open);
  describeToolOutputStoreContract(name, () => open({ clock: createFakeClock() }));
}

// In the form that a factory has, and as a caller meets it: nothing is open yet.
describeStore('SQLite', async ({ clock }) => openStore({ kind: 'memory' }, { clock }));
describeStore('Postgres', async ({ clock }) =>
  openStore({ kind: 'postgres', url: own.url() }, { clock }),
);

describe('of a newer version', { tags: ['long'] }, () => {
  for (const [name, openDatabase] of [
    ['SQLite', () => openSqlite(':memory:')],
    ['Postgres', () => openPostgres(newer.url())],
  ] as const) {
    describeStore(name, async ({ clock }) => {
      const database = await openDatabase();
      await migrate(database, ADDS);
      return storeOver(database, { clock, traces: createMemoryTraceStore({ clock }) });
    });
  }
});
