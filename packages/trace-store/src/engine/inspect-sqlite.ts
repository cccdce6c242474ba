import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { OrionError } from '@orion/contracts';
import { MIGRATIONS } from '../migrations/migrations.ts';
import { tooNew } from '../migrations/migrate.ts';
import { storeForeign } from './sql-database.ts';
import type { StoreOwner } from './store-owner.ts';

/**
 * Finds out what a SQLite file contains before anything in it can run.
 *
 * 1. A SQLite statement cannot be interrupted, and a trigger, a view or a generated column may run forever. So the
 *    schema must match, to the letter, a version that we wrote before any other statement runs.
 * 2. Anybody can create that schema. The owner row proves that this user created it.
 * 3. The file is only read: nothing is migrated and no journal is rolled back.
 */
export type SqliteContents =
  | { readonly kind: 'empty' }
  /** `owner` is null if the version had no owner row yet, or if the store is not signed. */
  | { readonly kind: 'ours'; readonly version: number; readonly owner: OwnerRow | null }
  | { readonly kind: 'newer'; readonly version: number }
  | { readonly kind: 'other' };

type OwnerRow = { readonly id: string; readonly mac: string };

/** sha256 of `schemaText` after each step, the first one first. */
export const SCHEMAS: readonly string[] = [
  '71d021fa159dbcd00f0adf357ecef6fac7b791dd351e842f0ed13aab40396b72',
  'db88985e7ce5b43321eabe411d60b5042998dada5b96f06cc7eb3c2ef426e959',
  '17ef913234ae92b99e93427d938baad26308a653ffb7859278569a768b6345b0',
  '8fcd51ad37efc4649a588835b6145a0980dd1b2d0ef709d52b78afab2e0a7dac',
  '6055709bc6d5cf52ffe2ff702535c4b6484a3872475e9be1af0b58aed54e5089',
  'abcfc2d83fe18603969bc3ca0cb409c10d04e3629118b23b60de142557372be8',
  'b51880824e73704aeb7f0427e972455ffe74e9ce9987947937c5b12d356872d7',
  '1ec43994ae330f289315b9893b109028d69f4dace0c22994b3289a78e31b2ebe',
  '5fc7fd22770a6c0d7c6e138ad86068fd3422282c9548bf804b8ec2718be516dd',
  // The steps 10, 11 and 13 are for Postgres.
  '5fc7fd22770a6c0d7c6e138ad86068fd3422282c9548bf804b8ec2718be516dd',
  '5fc7fd22770a6c0d7c6e138ad86068fd3422282c9548bf804b8ec2718be516dd',
  '4601769f0193bbe4a1d51463757c64be76761d26819ce236e09b155e1ea374b8',
  '4601769f0193bbe4a1d51463757c64be76761d26819ce236e09b155e1ea374b8',
  'f0d48de036a0972a2ddaf0d8b7c933a0b64623a3c72d20a2fe69120e1b0211a6',
  '92845ca3ca63a96c633586ebccde6cefc80af90bd0889ffd0c0efc9b794a3b01',
  // The step 16 is for Postgres.
  '92845ca3ca63a96c633586ebccde6cefc80af90bd0889ffd0c0efc9b794a3b01',
];

const MAX_OBJECTS = 64;
/** Characters of the statement that created a table. */
const MAX_TEXT = 10_000;
const STEP_TABLE = 'schema_step';

export function readContents(connection: DatabaseSync): SqliteContents {
  const objects = connection
    .prepare(
      `select type, name, tbl_name, substr(sql, 1, ${MAX_TEXT}) as sql from sqlite_schema
       limit ${MAX_OBJECTS}`,
    )
    .all();
  if (objects.length === 0) return { kind: 'empty' };
  const version = SCHEMAS.lastIndexOf(schemaHash(objects)) + 1;
  if (version === 0) return newerVersion(connection, objects);
  return { kind: 'ours', version, owner: version < 4 ? null : ownerOf(connection) };
}

/** Throws STORE_FOREIGN or STORE_TOO_NEW if the contents must not be used. Without an owner, any store passes. */
export function requireOwn(path: string, contents: SqliteContents, owner: StoreOwner | null): void {
  if (contents.kind === 'empty') return;
  if (contents.kind === 'newer') throw tooNew(contents.version, MIGRATIONS.length);
  if (contents.kind === 'other') {
    throw storeForeign(path, 'contains something other than a store of Orion');
  }
  const { owner: row } = contents;
  if (owner === null || (row !== null && owner.isOwn(row.id, row.mac))) return;
  throw storeForeign(path, 'was not made by you, as far as can be told', {
    adoptable: true,
  });
}

export function isForeign(error: unknown): error is OrionError {
  return OrionError.isInstance(error) && error.code === 'STORE_FOREIGN';
}

/** Ignores the order of objects and white space: none of our statements contains a comment or a literal. */
export function schemaHash(objects: readonly Readonly<Record<string, unknown>>[]): string {
  const lines = objects
    .map(({ type, name, tbl_name, sql }) =>
      JSON.stringify([type, name, tbl_name, sql]).replaceAll(/(?:\\n|\s)+/gu, ' '),
    )
    .toSorted();
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}

/**
 * A later version has another schema, and records its number in a table that stays as it is since the step 12. What its
 * steps say of earlier versions is not believed: anybody can write that, beside a trigger that never ends.
 */
function newerVersion(
  connection: DatabaseSync,
  objects: readonly Readonly<Record<string, unknown>>[],
): SqliteContents {
  const steps = objects.filter(({ tbl_name }) => tbl_name === STEP_TABLE);
  if (schemaHash(steps) !== STEP_TABLE_HASH) return { kind: 'other' };
  const row = connection.prepare(`select max(version) as version from ${STEP_TABLE}`).get();
  const version = Number(row?.['version'] ?? 0);
  return version > MIGRATIONS.length ? { kind: 'newer', version } : { kind: 'other' };
}

export const STEP_TABLE_HASH = 'b3fc75fd69d31ab2a23d2d6a40ef951df3ddd6cb93f99d68bd0721f83c13dcad';

function ownerOf(connection: DatabaseSync): OwnerRow | null {
  const rows = connection
    .prepare('select substr(id, 1, 100) as id, substr(mac, 1, 100) as mac from store_owner limit 2')
    .all();
  const [row] = rows;
  if (rows.length !== 1 || row === undefined) return null;
  const { id, mac } = row;
  return typeof id === 'string' && typeof mac === 'string' ? { id, mac } : null;
}
