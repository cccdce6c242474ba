import { randomUUID } from 'node:crypto';
import type { SessionContent, SessionOwner } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStore } from '../open-store.ts';
import type { Store } from '../open-store.ts';
import { execute, useTestDatabase } from '../testing/test-database.ts';

/** Hazard: two statements take the same sessions in different orders and wait for each other: a deadlock. */

const own = useTestDatabase();
let store: Store;
let content: SessionContent;
let other: Client;

beforeAll(async () => {
  store = openStore({ kind: 'postgres', url: own.url() }, { clock: createFakeClock() });
  if (store.sessionContent === null) throw new Error('a store in Postgres has sessions');
  content = store.sessionContent;
  other = new Client({ connectionString: own.url() });
  await other.connect();
});
afterAll(async () => {
  await other.end();
  await store.close();
});

async function begin(): Promise<SessionOwner> {
  const [sessionId, targetKey] = [randomUUID(), randomUUID()];
  const records = { metadata: '{}', state: '{}', turn: null };
  const owner = await content.begin({ sessionId, root: '/w', targetKey, records, fence: null });
  if (owner === null) throw new Error('the target was free');
  return owner;
}

const pieces = { content: { generation: 0, at: 0, bytes: Buffer.from('text') } };

test.each([
  ['confirm', (owners: readonly SessionOwner[]) => content.confirm(owners)],
  [
    'append',
    (owners: readonly SessionOwner[]) => content.append(owners.map((owner) => ({ owner, pieces }))),
  ],
])('%s takes no session while it waits for an older one', async (_, use) => {
  const [older, newer] = [await begin(), await begin()];
  const lock = (owner: SessionOwner, more = ''): Promise<unknown> =>
    other.query(
      `select 1 from write_session where session_id = '${owner.sessionId}' for update ${more}`,
    );
  await other.query('begin');
  await lock(older);
  const used = use([newer, older]);
  const waits = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await expect.poll(() => execute(own.url(), waits)).toHaveLength(1);
  const free = await lock(newer, 'nowait').then(
    () => true,
    () => false,
  );
  await other.query('rollback');
  await used;
  expect(free).toBe(true);
});
