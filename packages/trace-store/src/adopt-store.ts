import type { OrionError } from '@orion/contracts';
import { checkDatabaseFile, makeDatabasePrivate } from './engine/database-file.ts';
import { isForeign, requireOwn } from './engine/inspect-sqlite.ts';
import { inspectSqlite, openSqlite, readSqlite } from './engine/sqlite.ts';
import type { StoreOwner } from './engine/store-owner.ts';
import { migrate, signStore } from './migrations/migrate.ts';

/** A store that somebody else may have made, described for the person who decides whether to trust it. */
export type ForeignStore = {
  readonly path: string;
  /** Why it is not used. */
  readonly error: OrionError;
  /** Whether `adoptStore` can make it one's own: its form is that of a store. */
  readonly adoptable: boolean;
  readonly conversations: number;
  /** Of the latest conversations, exactly as stored: not safe to print. */
  readonly titles: readonly string[];
};

const SHOWN_TITLES = 5;
const MAX_TITLE = 200;
const MOST_COUNTED = 100_000;

/** Null if the store is the owner's own or does not exist. Changes nothing. Rejects if the file cannot be a store. */
export async function findForeignStore(
  path: string,
  owner: StoreOwner | null,
): Promise<ForeignStore | null> {
  try {
    if (checkDatabaseFile(path)) requireOwn(path, await inspectSqlite(path), owner);
    return null;
  } catch (error) {
    if (!isForeign(error)) throw error;
    const nothing = { path, error, adoptable: false, conversations: 0, titles: [] };
    if (error.details['adoptable'] !== true) return nothing;
    // Wrong modes can be corrected, so the contents decide.
    if ((await inspectSqlite(path)).kind !== 'ours') return nothing;
    return { ...nothing, adoptable: true, ...(await readConversations(path)) };
  }
}

/** Makes the store this owner's, whatever it contains. Rejects with STORE_FOREIGN if it is not adoptable. */
export async function adoptStore(path: string, owner: StoreOwner): Promise<void> {
  checkDatabaseFile(path, { ignoreModes: true });
  requireOwn(path, await inspectSqlite(path), null);
  makeDatabasePrivate(path);
  const database = await openSqlite(path);
  try {
    await migrate(database);
    await database.transaction((inside) => signStore(inside, owner));
  } finally {
    await database.close();
  }
}

function readConversations(path: string): Promise<Pick<ForeignStore, 'conversations' | 'titles'>> {
  return readSqlite(path, (connection) => {
    const counted = connection
      .prepare(`select count(*) as n from (select 1 from conversation limit ${MOST_COUNTED})`)
      .get();
    const titles = connection
      .prepare(
        `select substr(title, 1, ${MAX_TITLE}) as title from conversation
         order by updated_at desc limit ${SHOWN_TITLES}`,
      )
      .all();
    return {
      conversations: Number(counted?.['n'] ?? 0),
      titles: titles.map(({ title }) => String(title)),
    };
  });
}
