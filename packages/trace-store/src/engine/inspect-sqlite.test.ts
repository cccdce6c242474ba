import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { createSchema, migrate } from '../migrations/migrate.ts';
import { MIGRATIONS } from '../migrations/migrations.ts';
import { requireOwn, schemaHash, SCHEMAS, STEP_TABLE_HASH } from './inspect-sqlite.ts';
import type { SqliteContents } from './inspect-sqlite.ts';
import { inspectSqlite, openSqlite } from './sqlite.ts';
import type { StoreOwner } from './store-owner.ts';

/** Hazard: what we write ourselves is not recognised, or what somebody else wrote is taken for it. */

async function hashesOf(version: number): Promise<readonly [whole: string, steps: string]> {
  const database = await openSqlite(':memory:');
  await migrate(database, MIGRATIONS.slice(0, version));
  const objects = await database.all('select type, name, tbl_name, sql from sqlite_schema');
  await database.close();
  return [
    schemaHash(objects),
    schemaHash(objects.filter((row) => row['tbl_name'] === 'schema_step')),
  ];
}

test('the schema of each version that we wrote is known, and no other', async () => {
  const found = await Promise.all(MIGRATIONS.map((_, index) => hashesOf(index + 1)));
  expect(SCHEMAS).toEqual(found.map(([whole]) => whole));
  // A version finds the table of steps as it knows it in every later one.
  expect(new Set(found.slice(11).map(([, steps]) => steps))).toEqual(new Set([STEP_TABLE_HASH]));
});

const OWNER: StoreOwner = {
  newId: () => 'id',
  sign: (id) => `mac of ${id}`,
  isOwn: (id, mac) => mac === `mac of ${id}`,
};

/** A store of ours, with these statements run behind our back. */
async function contentsAfter(...statements: readonly string[]): Promise<SqliteContents> {
  const folder = mkdtempSync(join(tmpdir(), 'orion-inspect-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const path = join(folder, 'a.db');
  const store = await openSqlite(path);
  await createSchema(store, OWNER);
  await store.close();
  const connection = new DatabaseSync(path);
  for (const statement of statements) connection.exec(statement);
  connection.close();
  return inspectSqlite(path);
}

const OURS = {
  kind: 'ours',
  version: MIGRATIONS.length,
  owner: { id: 'id', mac: 'mac of id' },
} as const;

test('what we wrote is ours, whatever the order in which it lies there', async () => {
  expect(await contentsAfter()).toEqual(OURS);
  expect(
    await contentsAfter(
      "insert into turn (turn_id, epoch, last_seq, active_at) values ('t', 1, 1, 1)",
    ),
  ).toEqual(OURS);
  expect(
    await contentsAfter(
      'drop index conversation_newest',
      'create index conversation_newest on conversation (updated_at asc)',
    ),
  ).toEqual({ kind: 'other' });
  // Only blanks may differ.
  expect(
    await contentsAfter(
      'drop index conversation_newest',
      'create index conversation_newest\n on conversation (updated_at   desc)',
    ),
  ).toEqual(OURS);
});

test.each([
  [
    'a trigger with a query that never ends',
    `create trigger t after insert on turn_event begin
       select count(*) from (with recursive n (i) as (select 1 union all select i + 1 from n) select i from n);
     end`,
  ],
  ['a view', 'create view v as select 1'],
  ['another table', 'create table more (a text)'],
  ['a virtual table', 'create virtual table v using fts5(a)'],
  ['another column', 'alter table turn add column more text'],
  ['a computed column', 'alter table turn add column more text as (hex(turn_id))'],
  ['another index', 'create index more on turn (hex(turn_id))'],
  ['a table less', 'drop table tool_output'],
  [
    'a view in the place of a table',
    'drop table tool_output; create view tool_output as select 1 as id',
  ],
  ['a renamed table', 'alter table turn rename to turn2'],
  ['statistics of its own', 'analyze'],
  ['many things', Array.from({ length: 200 }, (_, n) => `create table t${n} (a)`).join(';')],
])('%s is no schema of ours', async (_, statements) => {
  const contents = await contentsAfter(statements);
  expect(contents).toEqual({ kind: 'other' });
  expect(() => requireOwn('a.db', contents, OWNER)).toThrow(
    'a.db is not used as the store: it contains something other than a store of Orion',
  );
});

test('a store without the one row that proves it is somebody else’s', async () => {
  const noOwner = { ...OURS, owner: null };
  expect(await contentsAfter('delete from store_owner')).toEqual(noOwner);
  expect(await contentsAfter("insert into store_owner values ('id', 'mac of id')")).toEqual(
    noOwner,
  );
  expect(await contentsAfter("update store_owner set mac = x'00'")).toEqual(noOwner);
  const forged = await contentsAfter("update store_owner set id = 'other'");
  expect(forged).toEqual({ ...OURS, owner: { id: 'other', mac: 'mac of id' } });
  for (const contents of [noOwner, forged, { ...OURS, version: 2, owner: null }]) {
    expect(() => requireOwn('a.db', contents, OWNER)).toThrow('was not made by you');
    // Without a key nothing can be told apart.
    expect(() => requireOwn('a.db', contents, null)).not.toThrow();
  }
  expect(() => requireOwn('a.db', OURS, OWNER)).not.toThrow();
});

test('a later version says so, and nobody else can', async () => {
  const later = "insert into schema_step values (99, 'later', 12); create table later (a text)";
  const newer = await contentsAfter(later);
  expect(newer).toEqual({ kind: 'newer', version: 99 });
  expect(() => requireOwn('a.db', newer, OWNER)).toThrow('has the schema 99');
  const trigger = 'create trigger t after insert on schema_step begin select 1; end';
  expect(await contentsAfter(`${later}; ${trigger}`)).toEqual({ kind: 'other' });
});

test('a database without anything in it is empty, and made into a store', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'orion-inspect-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const path = join(folder, 'a.db');
  const connection = new DatabaseSync(path);
  connection.exec('pragma user_version = 1');
  connection.close();
  const contents = await inspectSqlite(path);
  expect(contents).toEqual({ kind: 'empty' });
  requireOwn(path, contents, OWNER);
  const store = await openSqlite(path);
  await createSchema(store, OWNER);
  await store.close();
  expect(await inspectSqlite(path)).toEqual(OURS);
});

test('what is looked at is not changed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'orion-inspect-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const path = join(folder, 'a.db');
  const connection = new DatabaseSync(path);
  connection.exec('create table a (b text)');
  connection.close();
  const before = readFileSync(path);
  expect(await inspectSqlite(path)).toEqual({ kind: 'other' });
  expect(readFileSync(path)).toEqual(before);
  expect(readdirSync(folder)).toEqual(['a.db']);
});
