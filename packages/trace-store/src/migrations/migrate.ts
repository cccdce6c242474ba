import { OrionError } from '@orion/contracts';
import { SqlRefusedError } from '../engine/sql-database.ts';
import type { SqlDatabase, SqlRunner } from '../engine/sql-database.ts';
import type { StoreOwner } from '../engine/store-owner.ts';
import { MIGRATIONS } from './migrations.ts';
import type { Migration } from './migrations.ts';

/** Any number that nobody else uses for an advisory lock in the same database. */
const ADVISORY_LOCK = 7_306_127_450_213;

/**
 * Brings the schema to the newest step.
 *
 * 1. A step and the record that it is done are one transaction, so an interrupted step has not begun.
 * 2. One process works at a time; the others wait and find the work done.
 * 3. A schema with an unknown step is refused before anything is changed.
 * 4. A step takes as long as it takes: one that copies a large store would otherwise fail at every start.
 */
export async function migrate(
  database: SqlDatabase,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  const newest = migrations.at(-1)?.version ?? 0;
  // A normal start takes one query and no lock.
  if ((await versionOf(database)) === newest) return;
  const takeNext =
    (migration: Migration) =>
    async (inside: SqlRunner): Promise<void> => {
      if (inside.dialect === 'postgres') {
        await inside.all('select pg_advisory_xact_lock($1::bigint)', [ADVISORY_LOCK]);
      }
      await inside.run(STEPS);
      const version = await versionIn(inside);
      if (version > newest) throw tooNew(version, newest);
      if (version >= migration.version) return;
      await takeStep(inside, migration);
    };
  for (const migration of migrations) {
    await database.transaction(takeNext(migration), { isLimited: false });
  }
  const version = await versionIn(database);
  if (version > newest) throw tooNew(version, newest);
}

/**
 * Creates the schema in an empty SQLite database and records its owner, in one transaction: other processes see nothing
 * or all of it. Does nothing if another process was faster.
 */
export async function createSchema(database: SqlDatabase, owner: StoreOwner | null): Promise<void> {
  await database.transaction(async (inside) => {
    if ((await inside.all('select 1 from sqlite_schema limit 1')).length > 0) return;
    await inside.run(STEPS);
    for (const migration of MIGRATIONS) await takeStep(inside, migration);
    if (owner !== null) await signStore(inside, owner);
  });
}

/** Signs the store as this owner's. */
export async function signStore(inside: SqlRunner, owner: StoreOwner): Promise<void> {
  const id = owner.newId();
  await inside.run('delete from store_owner');
  await inside.run('insert into store_owner (id, mac) values ($1, $2)', [id, owner.sign(id)]);
}

const STEPS = `create table if not exists schema_step (
          version integer primary key,
          name text not null
        )`;

async function takeStep(inside: SqlRunner, migration: Migration): Promise<void> {
  for (const statement of migration.statements(inside.dialect)) await inside.run(statement);
  await inside.run('insert into schema_step (version, name) values ($1, $2)', [
    migration.version,
    migration.name,
  ]);
}

/** Whether none of our tables is there. */
export async function isWithoutSchema(database: SqlDatabase): Promise<boolean> {
  return (await versionOf(database)) === 0;
}

async function versionOf(database: SqlDatabase): Promise<number> {
  try {
    return await versionIn(database);
  } catch (error) {
    if (error instanceof SqlRefusedError) return 0;
    throw error;
  }
}

async function versionIn(runner: SqlRunner): Promise<number> {
  const [row] = await runner.all('select max(version) as version from schema_step');
  return Number(row?.['version'] ?? 0);
}

export function tooNew(version: number, newest: number): OrionError {
  return new OrionError({
    code: 'STORE_TOO_NEW',
    message: `The store has the schema ${version}; this version knows ${newest}`,
  });
}
