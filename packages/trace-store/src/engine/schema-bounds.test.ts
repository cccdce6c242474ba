import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSchema } from '../migrations/migrate.ts';
import { isSchemaSmall } from './schema-bounds.ts';
import { inspectSqlite, openSqlite } from './sqlite.ts';

/** Hazard: SQLite reads a schema of hundreds of thousands of tables before its first statement. */

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orion-bounds-'));
  path = join(folder, 'a.db');
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function tables(count: number, pragma = ''): DatabaseSync {
  const database = new DatabaseSync(path);
  const statements = Array.from({ length: count }, (_, n) => `create table t${n} (a, b)`);
  database.exec(`${pragma}; begin; ${statements.join(';')}; commit`);
  return database;
}

test.each([512, 1024, 4096, 65_536])(
  'a store of ours is small with pages of %i bytes',
  async (size) => {
    const made = new DatabaseSync(path);
    made.exec(`pragma page_size = ${size}; vacuum`);
    made.close();
    const store = await openSqlite(path);
    await createSchema(store, null);
    // In the journal as in the file.
    expect(isSchemaSmall(path)).toBe(true);
    await store.close();
    expect(isSchemaSmall(path)).toBe(true);
  },
);

test('many tables are not, be they in the file or in its journal, on one page or under many', () => {
  const database = tables(400);
  database.close();
  expect(isSchemaSmall(path)).toBe(false);
  rmSync(path);
  tables(65, 'pragma page_size = 65536').close();
  expect(isSchemaSmall(path)).toBe(false);
  rmSync(path);
  // Three levels of pages, with few on the first of them.
  tables(700, 'pragma page_size = 512').close();
  expect(readFileSync(path).readUInt16BE(103)).toBeLessThan(16);
  expect(isSchemaSmall(path)).toBe(false);
  rmSync(path);

  const journal = tables(1, 'pragma journal_mode = wal; pragma wal_autocheckpoint = 0');
  journal.exec('pragma wal_checkpoint(truncate)');
  expect(isSchemaSmall(path)).toBe(true);
  const file = readFileSync(path);
  journal.exec(Array.from({ length: 400 }, (_, n) => `create table u${n} (a, b)`).join(';'));
  expect(readFileSync(path)).toEqual(file);
  expect(isSchemaSmall(path)).toBe(false);
  journal.close();
});

test('of the row of one object 16 KiB are small, and no byte more', () => {
  // The row of a table `t` takes 16 bytes beside the text that made it.
  for (const [length, small] of [
    [16_384 - 16, true],
    [16_384 - 15, false],
  ] as const) {
    const database = new DatabaseSync(path);
    const [start, end] = ['create table t (', ')'];
    database.exec(`${start}${'a'.repeat(length - start.length - end.length)}${end}`);
    database.close();
    expect(isSchemaSmall(path)).toBe(small);
    rmSync(path);
  }
});

test('nor is a row without end, and a look at it takes no time', async () => {
  const database = new DatabaseSync(path);
  database.exec(`create table t (${'a'.repeat(20_000)})`);
  database.close();
  expect(isSchemaSmall(path)).toBe(false);
  rmSync(path);
  tables(1000).close();
  expect(await inspectSqlite(path)).toEqual({ kind: 'other' });
});

test('what is no database is left to SQLite', () => {
  expect(isSchemaSmall(path)).toBe(true);
  expect(isSchemaSmall(folder)).toBe(true);
  writeFileSync(path, '');
  expect(isSchemaSmall(path)).toBe(true);
  writeFileSync(path, 'SQLite format 3\u0000');
  expect(isSchemaSmall(path)).toBe(true);
  writeFileSync(path, 'a shopping list'.repeat(100));
  expect(isSchemaSmall(path)).toBe(true);
  rmSync(path);
  tables(1).close();
  const bytes = readFileSync(path);
  for (const [at, value] of [
    [100, 0x05],
    [103, 0xff],
    [108, 0xff],
    [16, 0x00],
  ] as const) {
    const odd = Buffer.from(bytes);
    odd[at] = value;
    writeFileSync(path, odd);
    expect(isSchemaSmall(path)).toBeTypeOf('boolean');
  }
});

test('a schema that goes on at a page that no file has is left to SQLite, which refuses it', async () => {
  tables(1).close();
  const bytes = readFileSync(path);
  // A page of references without any but the last one.
  bytes[100] = 0x05;
  bytes.writeUInt16BE(0, 103);
  for (const page of [0, 0xff_ff_ff_ff]) {
    bytes.writeUInt32BE(page, 108);
    writeFileSync(path, bytes);
    expect(isSchemaSmall(path)).toBe(true);
    await expect(inspectSqlite(path)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  }
});
