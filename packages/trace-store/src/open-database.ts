import {
  checkDatabaseFile,
  databaseFileExists,
  makeDatabasePrivate,
} from './engine/database-file.ts';
import { openEmptyDatabase } from './engine/empty-database.ts';
import { isForeign, requireOwn } from './engine/inspect-sqlite.ts';
import { createLazyDatabase } from './engine/lazy-database.ts';
import { openPostgres } from './engine/postgres.ts';
import { inspectSqlite, MEMORY, openSqlite } from './engine/sqlite.ts';
import type { SqlDatabase } from './engine/sql-database.ts';
import { createSchema, isWithoutSchema, migrate } from './migrations/migrate.ts';
import type { StoreLocation, StoreOptions } from './store-options.ts';

type OpenOptions = Pick<StoreOptions, 'create' | 'owner' | 'onForeign' | 'prepare' | 'observe'>;

/** The database of a store: the first use opens it and brings its schema up to date. */
export function openDatabase(
  location: StoreLocation,
  options: OpenOptions,
): ReturnType<typeof createLazyDatabase> {
  return createLazyDatabase(
    location.kind === 'postgres' ? 'postgres' : 'sqlite',
    async ({ closing, cut }) => {
      const { create = true, onForeign } = options;
      if (!create && location.kind === 'sqlite' && !databaseFileExists(location.path)) {
        return openEmptyDatabase('sqlite');
      }
      let opened: SqlDatabase;
      try {
        if (create) await options.prepare?.();
        opened = await openAt(location, options, closing);
      } catch (error) {
        if (onForeign === undefined || !isForeign(error)) throw error;
        onForeign(error);
        opened = await openSqlite(MEMORY);
      }
      // A server that hangs in the middle of this must not delay the end of the process.
      closing.addEventListener('abort', () => void opened.close(cut), { once: true });
      try {
        if (!create && (await isWithoutSchema(opened))) {
          await opened.close();
          return openEmptyDatabase(opened.dialect);
        }
        await migrate(opened);
        // A store opened for reading changes nothing, whatever a statement tries.
        if (!create && opened.dialect === 'sqlite') await opened.run('pragma query_only = on');
      } catch (error) {
        await opened.close();
        throw error;
      }
      return opened;
    },
    options.observe,
  );
}

function openAt(
  location: StoreLocation,
  options: OpenOptions,
  signal: AbortSignal,
): Promise<SqlDatabase> {
  switch (location.kind) {
    case 'sqlite':
      return openFile(location.path, options, signal);
    case 'postgres':
      return openPostgres(location.url);
    case 'memory':
      return openSqlite(MEMORY);
  }
  return location satisfies never;
}

/** The check comes first: a SQLite statement cannot be interrupted, whatever the file makes it do. */
async function openFile(
  path: string,
  { create = true, owner: findOwner }: OpenOptions,
  signal: AbortSignal,
): Promise<SqlDatabase> {
  const isFilled = checkDatabaseFile(path);
  const owner = (await findOwner?.()) ?? null;
  if (isFilled) requireOwn(path, await inspectSqlite(path, { signal }), owner);
  const opened = await openSqlite(path, { signal });
  try {
    makeDatabasePrivate(path);
    if (!create) return opened;
    await createSchema(opened, owner);
    // Another process may have created it meanwhile.
    if (!isFilled) requireOwn(path, await inspectSqlite(path, { signal }), owner);
    return opened;
  } catch (error) {
    await opened.close();
    throw error;
  }
}
