import { systemClock } from '@orion/contracts';
import { expect, onTestFinished, test } from 'vitest';

import { openStore } from '../open-store.ts';
import type { StoreLocation } from '../store-options.ts';
import { execute, inDatabase, useTestDatabase } from '../testing/test-database.ts';

/** Hazard: a server is asked for work whose store answers every question and takes no word of it. */

const own = useTestDatabase();

function openAt(location: StoreLocation) {
  const store = openStore(location, { clock: systemClock });
  onTestFinished(() => store.close());
  return store;
}

test('a Postgres that was made read-only takes nothing; once its address leads to one that is not, it does', async () => {
  const store = openAt({ kind: 'postgres', url: own.url() });
  await store.tryWrite();
  const name = new URL(own.url()).pathname.slice(1);
  // From another one, which stays as it is.
  const elsewhere = inDatabase(own.url(), 'postgres');
  await execute(
    elsewhere,
    `alter database ${name} set default_transaction_read_only = on;
     select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
  );
  await expect.poll(() => store.conversations.list({ limit: 1 })).toEqual([]);
  await expect(store.tryWrite()).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    message: expect.stringContaining('read-only'),
  });
  // Of connections that there are nothing changes: they lead to where they led.
  await execute(elsewhere, `alter database ${name} set default_transaction_read_only = off`);
  await expect
    .poll(() =>
      store.tryWrite().then(
        () => 'written',
        () => 'not written',
      ),
    )
    .toBe('written');
});

test('a Postgres without room takes nothing, until something has room that is undone', async () => {
  const store = openAt({ kind: 'postgres', url: own.url() });
  await store.tryWrite();
  await execute(
    own.url(),
    `create function no_room() returns trigger language plpgsql as
       $$ begin raise exception 'No space left on device' using errcode = '53100'; end $$;
     create trigger no_room before insert on serving execute function no_room()`,
  );
  // Nothing was tried to which that would have happened.
  await store.tryWrite();
  const full = { code: 'STORE_UNAVAILABLE', message: expect.stringContaining('No space left') };
  await expect(store.holdServing()).rejects.toMatchObject(full);
  for (let look = 0; look < 2; look += 1)
    await expect(store.tryWrite()).rejects.toMatchObject(full);
  await execute(own.url(), 'drop function no_room cascade');
  await store.tryWrite();
  expect(await execute(own.url(), 'select id from serving')).toEqual([]);
});

test('a store in memory takes everything', async () => {
  await openAt({ kind: 'memory' }).tryWrite();
});
