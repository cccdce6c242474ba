import { OrionError } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { adoptStore, findForeignStore } from './adopt-store.ts';
import { openSqlite } from './engine/sqlite.ts';
import type { StoreOwner } from './engine/store-owner.ts';
import { migrate } from './migrations/migrate.ts';
import { MIGRATIONS } from './migrations/migrations.ts';
import { openStore } from './open-store.ts';
import type { Store } from './open-store.ts';
import type { StoreOptions } from './store-options.ts';

/** Hazard: a database that somebody else has put there is read as history, written to, or run. */

const clock = createFakeClock(1_000_000);
let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orion-foreign-'));
  path = join(folder, 'orion.db');
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

let ids = 0;
function ownerNamed(name: string): StoreOwner {
  return {
    newId: () => `id ${(ids += 1)}`,
    sign: (id) => `${name}: ${id}`,
    isOwn: (id, mac) => mac === `${name}: ${id}`,
  };
}
const ME = ownerNamed('me');
const STRANGER = ownerNamed('stranger');

async function withStore<Result>(
  owner: StoreOwner | null,
  use: (store: Store) => Promise<Result>,
  options: Partial<StoreOptions> = {},
): Promise<Result> {
  const store = openStore(
    { kind: 'sqlite', path },
    { clock, owner: () => Promise.resolve(owner), ...options },
  );
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

const say = (content: string) => async (store: Store) =>
  store.conversations.save({
    conversationId: content,
    projectId: 'p',
    history: [{ role: 'user', content }],
    from: 0,
    openSessionId: null,
    revision: 0,
  });
const titles = async (store: Store): Promise<readonly string[]> =>
  (await store.conversations.list({ limit: 10 })).map(({ title }) => title);

async function refusal(options: Partial<StoreOptions> = {}): Promise<OrionError> {
  const error: unknown = await withStore(ME, titles, options).catch((reason: unknown) => reason);
  if (!OrionError.isInstance(error)) throw new Error(`not refused: ${JSON.stringify(error)}`);
  expect(error.code).toBe('STORE_FOREIGN');
  expect(error.message).toContain(path);
  return error;
}

test('one’s own store opens again, and nobody else’s', async () => {
  await withStore(ME, say('mine'));
  expect(await withStore(ME, titles)).toEqual(['mine']);
  const before = readFileSync(path);
  const error = await withStore(STRANGER, say('stranger')).catch((reason: unknown) => reason);
  expect(OrionError.isInstance(error) && [error.code, error.hint]).toEqual([
    'STORE_FOREIGN',
    'Run `orion trust`: it shows what is in it, and makes it yours. Or move it away.',
  ]);
  await expect(withStore(STRANGER, titles, { create: false })).rejects.toThrow(
    `${path} is not used as the store: it was not made by you, as far as can be told`,
  );
  expect(readFileSync(path)).toEqual(before);
  expect(await withStore(ME, titles)).toEqual(['mine']);
});

test('without a signature none is made, and what was begun is taken back', async () => {
  const forgetful = {
    ...ME,
    sign: (): string => {
      throw new Error('no key');
    },
  };
  await expect(withStore(forgetful, titles)).rejects.toThrow('no key');
  expect(await withStore(ME, titles)).toEqual([]);
});

test('many who make one at once make one, and it is theirs', async () => {
  const stores = Array.from({ length: 5 }, () =>
    openStore({ kind: 'sqlite', path }, { clock, owner: () => Promise.resolve(ME) }),
  );
  await Promise.all(stores.map((store, index) => say(`${index}`)(store)));
  await Promise.all(stores.map((store) => store.close()));
  expect((await withStore(ME, titles)).toSorted()).toEqual(['0', '1', '2', '3', '4']);
});

test('a store with a trigger that never ends costs no time, and a store in memory takes its place', async () => {
  await withStore(ME, say('mine'));
  const database = new DatabaseSync(path);
  database.exec(
    `create trigger hang after insert on turn_event begin
       select count(*) from (with recursive n (i) as (select 1 union all select i + 1 from n) select i from n);
     end`,
  );
  database.close();
  const before = readFileSync(path);
  const told: OrionError[] = [];
  await withStore(
    ME,
    async (store) => {
      const { epoch } = await store.turnLog.acquire('t', 1);
      await store.turnLog.append('t', epoch, 1, [{ seq: 1, kind: 'chunk', data: null }]);
      expect(await store.turnLog.read('t', 0)).toHaveLength(1);
      store.traces.record({ type: 'step', requestId: 't' });
      await say('new')(store);
      // Nothing of what lies there is history.
      expect(await titles(store)).toEqual(['new']);
    },
    { onForeign: (error) => told.push(error) },
  );
  expect(told.map(({ message }) => message)).toEqual([
    `${path} is not used as the store: it contains something other than a store of Orion`,
  ]);
  expect(readFileSync(path)).toEqual(before);
});

test('a link is refused, be it to a store of one’s own or to nothing', async () => {
  await withStore(ME, say('mine'));
  const elsewhere = join(folder, 'elsewhere.db');
  renameSync(path, elsewhere);
  symlinkSync(elsewhere, path);
  expect((await refusal()).message).toContain('it is a link');
  expect((await refusal({ create: false })).message).toContain('it is a link');
  rmSync(elsewhere);
  expect((await refusal()).message).toContain('it is a link');
  expect((await refusal({ create: false })).message).toContain('it is a link');
  expect(existsSync(elsewhere)).toBe(false);
  await expect(adoptStore(path, ME)).rejects.toThrow('it is a link');
  expect(await findForeignStore(path, ME)).toMatchObject({ adoptable: false });
});

test.each(['-wal', '-shm', '-journal'])(
  'a link beside the store, %s, is refused',
  async (ending) => {
    await withStore(ME, say('mine'));
    symlinkSync(join(folder, 'nothing'), `${path}${ending}`);
    const error = await refusal();
    expect(error.message).toContain(`${path}${ending} is not used as the store: it is a link`);
    expect(existsSync(join(folder, 'nothing'))).toBe(false);
  },
);

test('a journal that would change the store before it is read is refused, and named (issue 12)', async () => {
  await withStore(ME, say('mine'));
  const before = readFileSync(path);
  const journal = hotJournal(Buffer.alloc(4096, 'x'));
  writeFileSync(`${path}-journal`, journal, { mode: 0o600 });
  const told: OrionError[] = [];
  await withStore(
    ME,
    async (store) => {
      await say('new')(store);
      expect(await titles(store)).toEqual(['new']);
    },
    { onForeign: (error) => told.push(error) },
  );
  expect(told.map(({ message, hint }) => [message, hint])).toEqual([
    [
      `${path}-journal is not used as the store: it would change the store, and Orion never leaves such a file behind`,
      'Move it away, or name another folder with ORION_STATE_DIR.',
    ],
  ]);
  expect((await refusal({ create: false })).message).toContain(`${path}-journal`);
  const timers = vi.spyOn(globalThis, 'setTimeout');
  await expect(adoptStore(path, ME)).rejects.toThrow(`${path}-journal is not used as the store`);
  // Another process may be making it: it was looked for five times, with pauses between them.
  expect(timers.mock.calls.map(([, pause]) => pause)).toEqual([20, 20, 20, 20]);
  timers.mockRestore();
  expect(await findForeignStore(path, ME)).toMatchObject({ adoptable: false });
  expect([readFileSync(path), readFileSync(`${path}-journal`)]).toEqual([before, journal]);
  // The way on works.
  rmSync(`${path}-journal`);
  expect(await withStore(ME, titles)).toEqual(['mine']);
});

/** What SQLite plays back before it reads: the first page as it shall become. */
function hotJournal(page: Buffer): Buffer {
  const header = Buffer.alloc(512);
  Buffer.from('d9d505f920a163d7', 'hex').copy(header);
  header.writeUInt32BE(1, 8);
  header.writeUInt32BE(0, 12);
  header.writeUInt32BE(1, 16);
  header.writeUInt32BE(512, 20);
  header.writeUInt32BE(page.length, 24);
  const number = Buffer.alloc(4);
  number.writeUInt32BE(1);
  return Buffer.concat([header, number, page, Buffer.alloc(4)]);
}

test('whoever is to trust one is shown its five latest titles, and how many there are', async () => {
  for (let number = 1; number <= 7; number += 1) {
    await clock.advance(1_000);
    await withStore(ME, say(`number ${number}`));
  }
  expect(await findForeignStore(path, STRANGER)).toMatchObject({
    conversations: 7,
    titles: ['number 7', 'number 6', 'number 5', 'number 4', 'number 3'],
  });
});

test('of very many conversations and very long titles only so much is looked at', async () => {
  await withStore(ME, say('mine'));
  const database = new DatabaseSync(path);
  database.exec(
    `insert into conversation (conversation_id, project_id, title, messages, created_at, updated_at)
     with recursive number (n) as (select 1 union all select n + 1 from number limit 100001)
     select n, 'p', printf('%.*c', 300, 'x'), 0, 9e15, 9e15 from number`,
  );
  database.close();
  expect(await findForeignStore(path, STRANGER)).toMatchObject({
    adoptable: true,
    conversations: 100_000,
    titles: Array.from({ length: 5 }, () => 'x'.repeat(200)),
  });
});

test('one that others may write is refused until it is adopted; one that they may read is closed to them', async () => {
  await withStore(ME, say('mine'));
  chmodSync(path, 0o644);
  writeFileSync(`${path}-journal`, '', { mode: 0o644 });
  expect(await withStore(ME, titles)).toEqual(['mine']);
  expect(lstatSync(path).mode & 0o777).toBe(0o600);

  for (const mode of [0o620, 0o602]) {
    chmodSync(path, mode);
    expect((await refusal()).message).toContain('it can be written by other users');
    expect(await findForeignStore(path, ME)).toMatchObject({ adoptable: true, titles: ['mine'] });
    await adoptStore(path, ME);
    expect(lstatSync(path).mode & 0o777).toBe(0o600);
    expect(await withStore(ME, titles)).toEqual(['mine']);
  }
});

test('a file of another user is refused', async ({ skip }) => {
  if (process.geteuid?.() !== 0) skip('only root can give a file away');
  await withStore(ME, say('mine'));
  const { chownSync } = await import('node:fs');
  chownSync(path, 65_534, 65_534);
  expect((await refusal()).message).toContain('it belongs to another user');
  expect(await findForeignStore(path, ME)).toMatchObject({ adoptable: false });
});

test('a store is shown and adopted, with all that is in it, whatever its version', async () => {
  // As a version before stores were signed left it.
  const database = await openSqlite(path);
  await migrate(database, MIGRATIONS.slice(0, 3));
  for (const title of ['from before', 'and later']) {
    await database.run(
      `insert into conversation (conversation_id, project_id, title, messages, created_at, updated_at)
       values ($1, 'p', $1, 0, 1, 1)`,
      [title],
    );
  }
  await database.close();
  await refusal();
  expect(await findForeignStore(path, ME)).toMatchObject({
    path,
    adoptable: true,
    conversations: 2,
    titles: expect.arrayContaining(['from before', 'and later']) as string[],
    error: { code: 'STORE_FOREIGN' },
  });
  await adoptStore(path, ME);
  expect(await findForeignStore(path, ME)).toBeNull();
  expect(await withStore(ME, titles)).toHaveLength(2);
  await expect(withStore(STRANGER, titles)).rejects.toThrow('was not made by you');
});

test('what is no store is not adopted, and none is nobody’s', async () => {
  expect(await findForeignStore(path, ME)).toBeNull();
  const database = new DatabaseSync(path);
  database.exec('create table a (b text)');
  database.close();
  chmodSync(path, 0o600);
  expect(await findForeignStore(path, ME)).toEqual({
    path,
    adoptable: false,
    conversations: 0,
    titles: [],
    error: expect.objectContaining({ code: 'STORE_FOREIGN' }) as OrionError,
  });
  chmodSync(path, 0o666);
  expect(await findForeignStore(path, ME)).toMatchObject({ adoptable: false });
  await expect(adoptStore(path, ME)).rejects.toThrow('something other than a store');
});

test('who only reads changes nothing', async () => {
  await withStore(ME, say('mine'));
  await withStore(
    ME,
    async (store) => {
      expect(await titles(store)).toEqual(['mine']);
      await expect(say('more')(store)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    },
    { create: false },
  );
  expect(await withStore(ME, titles)).toEqual(['mine']);
});

test('without an owner any store with a schema of ours is taken, and no other', async () => {
  await withStore(STRANGER, say('theirs'));
  expect(await withStore(null, titles)).toEqual(['theirs']);
  const database = new DatabaseSync(path);
  database.exec('create view v as select 1');
  database.close();
  await expect(withStore(null, titles)).rejects.toMatchObject({ code: 'STORE_FOREIGN' });
});
