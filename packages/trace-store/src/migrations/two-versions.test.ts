import { randomUUID } from 'node:crypto';
import { systemClock } from '@orion/contracts';
import { Client } from 'pg';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { openPostgres } from '../engine/postgres.ts';
import { openSqlite } from '../engine/sqlite.ts';
import { openStore } from '../open-store.ts';
import type { Store } from '../open-store.ts';
import type { StoreLocation } from '../store-options.ts';
import { ADDS, stepAfter } from '../testing/newer-steps.ts';
import { temporaryStore } from '../testing/temporary-store.ts';
import { execute, inDatabase, useTestDatabase } from '../testing/test-database.ts';
import { migrate } from './migrate.ts';
import { MIGRATIONS } from './migrations.ts';
import type { Migration } from './migrations.ts';

/** Hazard: a deploy of a newer version breaks the servers of the older one, or an older one a store that is not for it. */

const own = useTestDatabase();
const made: string[] = [];
afterAll(async () => {
  for (const name of made) await execute(own.url(), `drop database ${name} with (force)`);
});

const NOW = MIGRATIONS.length;

/** The version after that needs it no more, and neither does this program: but it does not know that. */
const REMOVES = stepAfter(ADDS, {
  readableBy: NOW + 1,
  statements: () => ['alter table turn drop column later'],
});

async function newPostgres(): Promise<{ readonly kind: 'postgres'; readonly url: string }> {
  const name = `orion_versions_${randomUUID().replaceAll('-', '')}`;
  await execute(own.url(), `create database ${name}`);
  made.push(name);
  return { kind: 'postgres', url: inDatabase(own.url(), name) };
}

/** This program. */
function openAt(location: StoreLocation): Store {
  const store = openStore(location, { clock: systemClock });
  onTestFinished(() => store.close());
  return store;
}

/** What a start of a newer one does first. */
async function upgrade(
  location: Extract<StoreLocation, { kind: 'sqlite' | 'postgres' }>,
  steps: readonly Migration[],
): Promise<void> {
  const database = await (location.kind === 'sqlite'
    ? openSqlite(location.path)
    : openPostgres(location.url));
  try {
    await migrate(database, steps);
  } finally {
    await database.close();
  }
}

describe.each([
  ['SQLite', () => Promise.resolve(temporaryStore())],
  ['Postgres', newPostgres],
])('%s', (_, newLocation) => {
  test('a server goes on over a step that it can work with', async () => {
    const location = await newLocation();
    const store = openAt(location);
    const hold = await store.holdServing();
    const { epoch } = await store.turnLog.acquire('running', 1);
    let isTaken = false;
    let seq = 0;
    const say = async (): Promise<void> => {
      seq += 1;
      const event = { seq, kind: 'chunk', data: 'text' };
      await store.turnLog.append('running', epoch, seq, [event]);
    };
    const upgraded = upgrade(location, ADDS).finally(() => {
      isTaken = true;
    });
    while (!isTaken) await say();
    await upgraded;
    await say();
    expect((await store.turnLog.read('running', 0)).map((entry) => entry.seq)).toEqual(
      Array.from({ length: seq }, (__, index) => index + 1),
    );
    expect(hold.lost.aborted).toBe(false);
    await hold.release();
  });
});

test('Postgres: a program opens a newer store if every step says that it may', async () => {
  const location = await newPostgres();
  await openAt(location).turnLog.epochOf('turn');
  await upgrade(location, ADDS);
  const older = openAt(location);
  await (await older.holdServing()).release();
  expect(await older.turnLog.acquire('turn', 1)).toMatchObject({ lastSeq: 0 });

  await upgrade(location, REMOVES);
  const refused = { code: 'STORE_TOO_NEW', retryable: false };
  await expect(openAt(location).turnLog.epochOf('turn')).rejects.toMatchObject(refused);
  // What a later step says does not take back what an earlier one said.
  const harmless = stepAfter(REMOVES, { readableBy: 1, statements: () => [] });
  await upgrade(location, harmless);
  await expect(openAt(location).turnLog.epochOf('turn')).rejects.toMatchObject(refused);
});

test(
  'Postgres: a step waits for a table without keeping appends waiting',
  { tags: ['long'], timeout: 30_000 },
  async () => {
    const location = await newPostgres();
    const { turnLog } = openAt(location);
    const { epoch } = await turnLog.acquire('running', 1);
    // As a dump does.
    const reader = new Client({ connectionString: location.url });
    await reader.connect();
    await reader.query('begin; select 1 from turn');
    const upgraded = upgrade(location, ADDS);
    const waits = async (): Promise<number> =>
      (await execute(location.url, 'select 1 from pg_locks where not granted')).length;
    await expect.poll(waits, { timeout: 5_000 }).toBeGreaterThan(0);
    await turnLog.append('running', epoch, 1, [{ seq: 1, kind: 'chunk', data: null }]);
    await reader.query('commit');
    await reader.end();
    await upgraded;
  },
);

test('Postgres: a step is not taken while a server runs that cannot work with it', async () => {
  const location = await newPostgres();
  const [alone, one, other] = [openAt(location), openAt(location), openAt(location)];
  const versions = (): Promise<readonly unknown[]> =>
    execute(location.url, 'select max(version) as version from schema_step');

  const hold = await alone.holdServing();
  // The step that adds is taken, the one after it is not: a release was left out.
  await expect(upgrade(location, REMOVES)).rejects.toMatchObject({
    code: 'STORE_IN_USE',
    details: { version: NOW + 2, readableBy: NOW + 1, oldest: NOW },
  });
  expect(await versions()).toEqual([{ version: NOW + 1 }]);
  await hold.release();

  const shared = await Promise.all(
    [one, other].map((store) => store.holdServing({ sharedBy: 'x' })),
  );
  await expect(upgrade(location, REMOVES)).rejects.toMatchObject({ code: 'STORE_IN_USE' });
  await shared[0]?.release();
  await expect(upgrade(location, REMOVES)).rejects.toMatchObject({ code: 'STORE_IN_USE' });
  await shared[1]?.release();
  await upgrade(location, REMOVES);
  expect(await versions()).toEqual([{ version: NOW + 2 }]);
});

test('Postgres: servers of two versions share a store, and the older one decides which step is taken', async () => {
  const location = await newPostgres();
  const store = openAt(location);
  await store.turnLog.epochOf('turn');
  const older = new Client({
    connectionString: location.url,
    application_name: `orion x ${NOW - 1}`,
  });
  await older.connect();
  // The lock of those that serve.
  await older.query('select pg_advisory_lock_shared(7306127450214)');
  const hold = await store.holdServing({ sharedBy: 'x' });
  await expect(upgrade(location, ADDS)).rejects.toMatchObject({
    code: 'STORE_IN_USE',
    details: { oldest: NOW - 1 },
  });
  await older.end();
  await expect.poll(() => upgrade(location, ADDS).then(() => 'taken')).toBe('taken');
  await hold.release();
});

test('Postgres: a server that starts while a step is taken learns whether it may work with it', async () => {
  const location = await newPostgres();
  const store = openAt(location);
  await store.turnLog.epochOf('turn');
  const begun = 'create table begun (a text)';
  const slow = stepAfter(MIGRATIONS, { statements: () => [begun, 'select pg_sleep(0.5)'] });
  const upgraded = upgrade(location, slow);
  const running = `select 1 from pg_stat_activity where query like '%pg_sleep%' and pid <> pg_backend_pid()
    and datname = current_database()`;
  await expect.poll(() => execute(location.url, running)).toHaveLength(1);
  await expect(store.holdServing()).rejects.toMatchObject({ code: 'STORE_TOO_NEW' });
  await upgraded;
});

test('SQLite: a newer form is refused whatever it says of itself; a step that leaves the form alone is not', async () => {
  const [changed, unchanged] = [temporaryStore(), temporaryStore()];
  for (const location of [changed, unchanged]) await openAt(location).turnLog.epochOf('turn');
  await upgrade(changed, ADDS);
  await expect(openAt(changed).turnLog.epochOf('turn')).rejects.toMatchObject({
    code: 'STORE_TOO_NEW',
  });

  const elsewhere = stepAfter(MIGRATIONS, { readableBy: NOW, statements: () => [] });
  await upgrade(unchanged, elsewhere);
  expect(await openAt(unchanged).turnLog.acquire('turn', 1)).toMatchObject({ lastSeq: 0 });
  await upgrade(unchanged, stepAfter(elsewhere, { statements: () => [] }));
  await expect(openAt(unchanged).turnLog.epochOf('turn')).rejects.toMatchObject({
    code: 'STORE_TOO_NEW',
  });
});
