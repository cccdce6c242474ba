import { OrionError } from '@orion/contracts';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test, vi } from 'vitest';
import { SqlRefusedError, insertStatement } from './sql-database.ts';
import { inspectSqlite, openSqlite } from './sqlite.ts';

const folder = mkdtempSync(join(tmpdir(), 'orion-sqlite-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

test('statements in the way of Postgres are translated', async () => {
  const database = await openSqlite(':memory:');
  expect(await database.all('select $2::bigint as b, $1::jsonb as a, $2 as c', ['x', 5])).toEqual([
    { b: 5, a: 'x', c: 5 },
  ]);
  await database.run('create table pair (a text, b integer)');
  expect(insertStatement('pair', ['a', 'b'], 2)).toBe(
    'insert into pair (a, b) values ($1, $2), ($3, $4)',
  );
  const insert = 'insert into pair (a, b) values ($1::jsonb, $2), ($3::jsonb, $4)';
  expect(await database.run(insert, ['x', 1, null, 2])).toBe(2);
  expect(await database.all('select * from pair order by b')).toEqual([
    { a: 'x', b: 1 },
    { a: null, b: 2 },
  ]);
  await expect(database.run(insert, ['x', 1, 'y'])).rejects.toThrow('$4 is missing');
  await database.close();
});

test('a transaction happens wholly or not at all, and others come after it', async () => {
  const database = await openSqlite(':memory:');
  await database.run('create table number (n integer primary key)');
  const order: string[] = [];
  const first = database.transaction(async (inside) => {
    await inside.run('insert into number values (1)');
    await Promise.resolve();
    order.push('first');
    return 'result';
  });
  const second = database
    .transaction(async (inside) => {
      await inside.run('insert into number values (2)');
      order.push('second');
      await inside.run('insert into number values (2)');
    })
    .catch((error: unknown) => error);
  const third = database.all('select n from number');
  expect(await first).toBe('result');
  expect(await second).toBeInstanceOf(SqlRefusedError);
  expect(await third).toEqual([{ n: 1 }]);
  expect(order).toEqual(['first', 'second']);
  await database.close();
});

test('the database and the files beside it are their owner’s alone', async () => {
  const path = join(folder, 'private.db');
  const mask = process.umask(0o022);
  try {
    const database = await openSqlite(path);
    await database.run('create table one (a text)');
    for (const file of [path, `${path}-wal`, `${path}-shm`]) {
      expect(statSync(file).mode & 0o777).toBe(0o600);
    }
    await database.close();
  } finally {
    process.umask(mask);
  }
});

test('while another connection writes this one waits without holding up anything else', async () => {
  const path = join(folder, 'busy.db');
  const [writer, waiter] = [await openSqlite(path), await openSqlite(path)];
  await writer.run('create table number (n integer)');
  const held = Promise.withResolvers<void>();
  const writing = writer.transaction(async (inside) => {
    await inside.run('insert into number values (1)');
    await held.promise;
  });
  const waiting = waiter.run('insert into number values (2)');
  // Timers run while the insert waits.
  await new Promise((resolve) => {
    setTimeout(resolve, 30);
  });
  held.resolve();
  await writing;
  await waiting;
  expect(await waiter.all('select n from number order by n')).toEqual([{ n: 1 }, { n: 2 }]);
  await writer.close();
  await waiter.close();
});

test('who has waited long enough is told so, and may try again', async () => {
  const path = join(folder, 'held.db');
  const [writer, waiter] = [await openSqlite(path), await openSqlite(path, { busyMs: 20 })];
  const held = Promise.withResolvers<void>();
  const writing = writer.transaction(async () => held.promise);
  const error: unknown = await waiter.run('create table one (a text)').catch((e: unknown) => e);
  expect(OrionError.isInstance(error) && [error.code, error.retryable]).toEqual([
    'STORE_UNAVAILABLE',
    true,
  ]);
  held.resolve();
  await writing;
  await waiter.run('create table one (a text)');
  await writer.close();
  await waiter.close();
});

test('closing waits for no other writer', async () => {
  const path = join(folder, 'closing.db');
  const [writer, waiter] = [await openSqlite(path), await openSqlite(path)];
  const held = Promise.withResolvers<void>();
  const writing = writer.transaction(async () => held.promise);
  const start = performance.now();
  const waiting = Promise.allSettled(
    ['one', 'two', 'three'].map((name) => waiter.run(`create table ${name} (a text)`)),
  );
  await waiter.close();
  expect((await waiting).map((result) => result.status)).toEqual(
    Array.from({ length: 3 }, () => 'rejected'),
  );
  expect(performance.now() - start).toBeLessThan(3_000);
  held.resolve();
  await writing;
  await writer.close();
});

test.each(['before', 'after'] as const)(
  'a wait for another writer is cut off when closing is, %s it began',
  async (when) => {
    const path = join(folder, `cut-${when}.db`);
    const [writer, waiter] = [await openSqlite(path), await openSqlite(path)];
    const held = Promise.withResolvers<void>();
    const writing = writer.transaction(() => held.promise);
    // Time stands still, so that no wait is over by itself.
    const now = vi.spyOn(performance, 'now').mockReturnValue(1);
    try {
      const waiting = waiter.run('create table one (a text)').catch((error: unknown) => error);
      const cut = new AbortController();
      if (when === 'before') cut.abort();
      const closing = waiter.close(cut.signal);
      cut.abort();
      expect(await waiting).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
      await closing;
    } finally {
      now.mockRestore();
    }
    held.resolve();
    await writing;
    await writer.close();
  },
);

test('a database in memory makes no file', async () => {
  const before = process.cwd();
  process.chdir(folder);
  try {
    const database = await openSqlite(':memory:');
    await database.run('create table one (a text)');
    await database.close();
    expect(existsSync(join(folder, ':memory:'))).toBe(false);
  } finally {
    process.chdir(before);
  }
});

test('inside of a transaction the dialect is known', async () => {
  const database = await openSqlite(':memory:');
  expect(await database.transaction((inside) => Promise.resolve(inside.dialect))).toBe('sqlite');
  expect(database.dialect).toBe('sqlite');
  await database.close();
});

test('a statement or value that never works is refused with the code of SQLite', async () => {
  const database = await openSqlite(':memory:');
  await database.run('create table number (n integer primary key)');
  await database.run('insert into number values (1)');
  for (const [sql, reason] of [
    ['select * from nothing', '1'],
    ['select length(zeroblob(2000000000))', '18'],
    ['insert into number values (1)', '1555'],
    ["insert into number values ('x')", '20'],
  ] as const) {
    const error: unknown = await database.all(sql).catch((thrown: unknown) => thrown);
    expect(error instanceof SqlRefusedError && error.reason).toBe(reason);
  }
  await database.close();
});

test('the settings of a connection are those that durability and safety need', async () => {
  const database = await openSqlite(join(folder, 'settings.db'));
  const settings = ['journal_mode', 'synchronous', 'trusted_schema', 'wal_autocheckpoint'];
  const found = await Promise.all(
    [...settings, 'secure_delete'].map((name) => database.all(`pragma ${name}`)),
  );
  expect(found.flat()).toEqual([
    { journal_mode: 'wal' },
    { synchronous: 1 },
    { trusted_schema: 0 },
    { wal_autocheckpoint: 4096 },
    { secure_delete: 2 },
  ]);
  await database.close();
});

test('a full disk refuses whole transactions, and later ones go in again', async () => {
  const database = await openSqlite(join(folder, 'full.db'));
  await database.run('create table text (t text)');
  const [size] = await database.all('pragma page_count');
  await database.all(`pragma max_page_count = ${Number(size?.['page_count']) + 2}`);
  const filling = database.transaction(async (inside) => {
    for (let row = 0; row < 100; row++) {
      await inside.run('insert into text values ($1)', ['x'.repeat(1_000)]);
    }
  });
  await expect(filling).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
  expect(await database.all('select count(*) as rows from text')).toEqual([{ rows: 0 }]);
  await database.all('pragma max_page_count = 100000');
  await database.run('insert into text values ($1)', ['x']);
  await database.close();
});

test('what is no database is left as it is', async () => {
  const path = join(folder, 'text.db');
  writeFileSync(path, 'This is a text and not a database.\n'.repeat(100));
  const before = statSync(path).size;
  await expect(openSqlite(path)).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    retryable: false,
  });
  expect(statSync(path).size).toBe(before);
  await expect(openSqlite(join(folder, 'none', 'orion.db'))).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
  });
});

test('a closed database says so', async () => {
  const database = await openSqlite(':memory:');
  await database.close();
  await database.close();
  await expect(database.all('select 1')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
});

test.each([
  ['open', 'while'],
  ['open', 'before'],
  ['inspect', 'while'],
  ['inspect', 'before'],
] as const)(
  'who waits to %s a busy file waits a moment longer when that is called off %s it waits, and no more',
  async (use, when) => {
    const path = join(folder, `busy-${use}-${when}.db`);
    const holder = new DatabaseSync(path);
    holder.exec('create table a (b text); begin exclusive');
    let time = 1_000;
    const now = vi.spyOn(performance, 'now').mockImplementation(() => time);
    try {
      const off = new AbortController();
      const options = { signal: off.signal };
      const waiting = use === 'open' ? openSqlite(path, options) : inspectSqlite(path, options);
      let ended = false;
      const outcome = waiting.then(
        () => (ended = true),
        (error: unknown) => {
          ended = true;
          return error;
        },
      );
      if (when === 'before') off.abort();
      await new Promise((resolve) => setTimeout(resolve, 60));
      off.abort();
      time += 249;
      await new Promise((resolve) => setTimeout(resolve, 60));
      expect(ended).toBe(false);
      time += 1;
      expect(await outcome).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    } finally {
      now.mockRestore();
      holder.close();
    }
  },
);
