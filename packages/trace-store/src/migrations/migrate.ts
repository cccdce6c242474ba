import { OrionError, sleep, systemClock } from '@orion/contracts';
import { oldestServing } from '../engine/postgres-lock.ts';
import { SqlRefusedError } from '../engine/sql-database.ts';
import type { SqlDatabase, SqlRunner } from '../engine/sql-database.ts';
import type { StoreOwner } from '../engine/store-owner.ts';
import { MIGRATIONS } from './migrations.ts';
import type { Migration } from './migrations.ts';

/** Any number that nobody else uses for an advisory lock in the same database. */
const ADVISORY_LOCK = 7_306_127_450_213;

/**
 * How long a step waits for a table that somebody else uses. Everything that comes later waits behind it: all appends of
 * the servers that run.
 */
const TABLE_LOCK = "set local lock_timeout = '1s'";
/** Until it is tried again, so that the others get on, in milliseconds. */
const TRY_AGAIN_MS = 3_000;
const TRIES = 15;
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Brings the schema to the newest step, or leaves a newer one as it is if this program can work with that.
 *
 * 1. A step and the record that it is done are one transaction, so an interrupted step has not begun.
 * 2. One process works at a time; the others wait and find the work done.
 * 3. A schema with an unknown step is refused before anything is changed, unless the step says that this program can work
 *    with it (`readableBy`).
 * 4. A step takes as long as it takes: one that copies a large store would otherwise fail at every start. But it never
 *    keeps others waiting for long that it waits for itself.
 * 5. On Postgres, a step is not taken while a server runs that could not work with it.
 */
export async function migrate(
  database: SqlDatabase,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  const newest = migrations.at(-1)?.version ?? 0;
  // A normal start takes one query and no lock.
  const found = await versionOf(database);
  if (found === newest) return;
  if (found > newest) return requireReadable(database, newest);
  const takeNext =
    (migration: Migration) =>
    async (inside: SqlRunner): Promise<void> => {
      await takeTurns(inside);
      await inside.run(STEPS);
      if ((await versionIn(inside)) >= migration.version) return;
      await requireNobodyBehind(inside, migration);
      if (inside.dialect === 'postgres') await inside.run(TABLE_LOCK);
      await takeStep(inside, migration);
    };
  for (const migration of migrations) {
    await withoutWaiting(() => database.transaction(takeNext(migration), { isLimited: false }));
  }
  await requireReadable(database, newest);
}

/** Tries a step again for a minute whose table is in use. */
async function withoutWaiting(step: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await step();
      return;
    } catch (error) {
      if (!isInUse(error)) throw error;
      if (tries === TRIES) throw tableInUse(error);
    }
    await sleep(systemClock, TRY_AGAIN_MS);
  }
}

function isInUse(error: unknown): boolean {
  return OrionError.isInstance(error) && error.details['reason'] === LOCK_NOT_AVAILABLE;
}

function tableInUse(cause: unknown): OrionError {
  return new OrionError({
    code: 'STORE_IN_USE',
    message:
      'The schema of the store cannot be brought up to date: something else has used a table of it for a minute',
    hint: 'Wait for the end of a dump, or end the transaction that has it open (pg_stat_activity shows it); then start again.',
    cause,
  });
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
  const { version, name, readableBy } = migration;
  await inside.run('insert into schema_step (version, name) values ($1, $2)', [version, name]);
  if (readableBy === undefined) return;
  await inside.run('update schema_step set readable_by = $1 where version = $2', [
    readableBy,
    version,
  ]);
}

/** A server that runs does not ask again what its store looks like: it would find out by its statements. */
async function requireNobodyBehind(
  inside: SqlRunner,
  { version, readableBy = version }: Migration,
): Promise<void> {
  if (inside.dialect !== 'postgres') return;
  const oldest = await oldestServing(inside);
  if (oldest === null || oldest >= readableBy) return;
  throw new OrionError({
    code: 'STORE_IN_USE',
    message: `A server of an older version runs, which could not work with the schema ${version} of the store`,
    hint: 'Stop the servers of the older version first.',
    details: { version, readableBy, oldest },
  });
}

/**
 * For a server that holds its store, within the transaction in which it says so: a step that began before saw no server,
 * so its end is waited for.
 */
export async function requireUsable(inside: SqlRunner): Promise<void> {
  await takeTurns(inside);
  await requireReadable(inside, MIGRATIONS.length);
}

/** Until the end of the transaction. */
async function takeTurns(inside: SqlRunner): Promise<void> {
  if (inside.dialect !== 'postgres') return;
  await inside.all('select pg_advisory_xact_lock($1::bigint)', [ADVISORY_LOCK]);
}

/** Rejects with STORE_TOO_NEW if a step that this program does not know is not for it. */
async function requireReadable(runner: SqlRunner, newest: number): Promise<void> {
  const version = await versionIn(runner);
  if (version <= newest) return;
  const [row] = await runner.all(
    'select max(coalesce(readable_by, version)) as needed from schema_step',
  );
  if (Number(row?.['needed']) > newest) throw tooNew(version, newest);
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
