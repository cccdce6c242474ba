import type { SqlDatabase, SqlValue } from '../../engine/sql-database.ts';
import { storeUnavailable } from '../../engine/sql-database.ts';
import { TRACE_COLUMNS } from '../trace-row.ts';

/** What one insert is to do with its rows, which are told by their summaries. */
export type InsertBehaviour = (summaries: readonly string[]) => Promise<void> | void;

export type ScriptedDatabase = SqlDatabase & {
  /** The summaries of the rows that went in, in their order. */
  readonly stored: string[];
  /** The number of rows of each insert that was tried. */
  readonly attempts: number[];
  behave: InsertBehaviour;
};

const SUMMARY = TRACE_COLUMNS.findIndex(({ name }) => name === 'summary');
const UID = TRACE_COLUMNS.findIndex(({ name }) => name === 'uid');

/** A database that keeps what it is given, once for each uid, and fails as a test wants it to. */
export function createScriptedDatabase(): ScriptedDatabase {
  const uids = new Set<unknown>();
  const database: ScriptedDatabase = {
    dialect: 'postgres',
    stored: [],
    attempts: [],
    behave: () => undefined,
    async run(_sql: string, parameters: readonly SqlValue[] = []) {
      // The arrays stand first; the other parameters are the longest column's.
      const columns = parameters.filter((column) => typeof column === 'object' && column !== null);
      const rows = (columns[0] ?? []).map((_, row) => columns.map((column) => column[row]));
      database.attempts.push(rows.length);
      await database.behave(rows.map((row) => String(row[SUMMARY])));
      for (const row of rows) {
        if (uids.has(row[UID])) continue;
        uids.add(row[UID]);
        database.stored.push(String(row[SUMMARY]));
      }
      return rows.length;
    },
    all: () => Promise.resolve([]),
    transaction: (work) => work(database),
    listen: () => () => undefined,
    takeLock: () => Promise.resolve(null),
    close: () => Promise.resolve(),
  };
  return database;
}

/** The database is away: nothing is known of the outcome. */
export function away(): never {
  throw storeUnavailable('The database is away', { retryable: true });
}

/** A promise for ever. */
export function hang(): Promise<void> {
  return new Promise(() => undefined);
}
