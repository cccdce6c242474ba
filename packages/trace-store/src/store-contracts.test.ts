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
import { useTestDatabase } from './testing/test-database.ts';
import { openStore } from './open-store.ts';
import type { Store } from './open-store.ts';
import type { StoreLocation } from './store-options.ts';

const own = useTestDatabase();
const locations: readonly (readonly [name: string, at: () => StoreLocation])[] = [
  ['SQLite', () => ({ kind: 'memory' })],
  ['Postgres', () => ({ kind: 'postgres', url: own.url() })],
];

for (const [name, at] of locations) {
  // In the form that a factory has, and as a caller meets it: nothing is open yet.
  const open = ({ clock }: { readonly clock: Clock }): Promise<Store> =>
    Promise.resolve(openStore(at(), { clock }));
  describeTurnLogContract(name, open);
  describeTurnEndContract(name, open);
  describeApprovalsContract(name, open);
  describeServedTurnsContract(name, open);
  describeConversationStoreContract(name, open);
  describeToolOutputStoreContract(name, () => open({ clock: createFakeClock() }));
}
