import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { OrionError } from '@orion/contracts';
import { createPrivateFile } from './database-file.ts';
import { readContents } from './inspect-sqlite.ts';
import type { SqliteContents } from './inspect-sqlite.ts';
import { isSchemaSmall } from './schema-bounds.ts';
import {
  onAbort,
  SqlRefusedError,
  storeClosed,
  storeForeign,
  storeUnavailable,
} from './sql-database.ts';
import type { SqlDatabase, SqlRow, SqlRunner, SqlScalar, SqlValue } from './sql-database.ts';

export type SqliteOptions = {
  /** How long to try while another connection writes; 10,000 when left out. */
  readonly busyMs?: number;
  /** Ends the wait for a busy database, as closing does, while it is opened. */
  readonly signal?: AbortSignal;
};

/** A database that is in no file. */
export const MEMORY = ':memory:';
const DEFAULT_BUSY_MS = 10_000;
/** What is under way when the database is closed waits so long at most for another writer. */
const CLOSE_GRACE_MS = 250;
const FIRST_BUSY_PAUSE_MS = 1;
const LAST_BUSY_PAUSE_MS = 20;
const MAX_CACHED_STATEMENTS = 200;
/** So often something is looked at that another process may be about to finish. */
const LOOKS = 5;

const BUSY = 5;
const LOCKED = 6;
/** READONLY_ROLLBACK: a journal beside the file wants to be played back. */
const HOT_JOURNAL = 776;
/** What may pass: besides those an error of the disk, and a full one. */
const PASSING: ReadonlySet<number> = new Set([BUSY, LOCKED, 10, 13]);
/** Result codes that speak of the statement: ERROR, TOOBIG, CONSTRAINT, MISMATCH. */
const REFUSALS: ReadonlySet<number> = new Set([1, 18, 19, 20]);

/**
 * One connection to a SQLite file, or to `:memory:`.
 *
 * 1. One thing happens at a time: a statement that is asked for during a transaction comes after it.
 * 2. A busy database is asked again for `busyMs`, and the thread is free between two attempts.
 * 3. The file is readable by its owner alone, the files beside it too.
 * 4. An acknowledged transaction survives the death of the process; the last of them may be lost in a power cut
 *    (synchronous NORMAL), and never a part of one.
 */
export async function openSqlite(path: string, options: SqliteOptions = {}): Promise<SqlDatabase> {
  const { busyMs = DEFAULT_BUSY_MS } = options;
  const load = await loadSqlite();
  // Closing puts an end to every wait, also to those that have not begun.
  let endOfWaits = Number.POSITIVE_INFINITY;
  const closeSoon = (): void => {
    endOfWaits = Math.min(endOfWaits, performance.now() + CLOSE_GRACE_MS);
  };
  const whileBusy = <Result>(work: () => Result): Promise<Result> => {
    const end = performance.now() + busyMs;
    return retryWhileBusy(() => Math.min(end, endOfWaits), work);
  };
  onAbort(options.signal, closeSoon);
  const connection = await whileBusy(() => connect(load, path));
  const statements = new Map<string, { statement: StatementSync; order: readonly number[] }>();
  let closed = false;
  let last: Promise<unknown> = Promise.resolve();

  const prepared = (sql: string): { statement: StatementSync; order: readonly number[] } => {
    const known = statements.get(sql);
    if (known !== undefined) {
      statements.delete(sql);
      statements.set(sql, known);
      return known;
    }
    const { text, order } = toSqlite(sql);
    const made = { statement: connection.prepare(text), order };
    statements.set(sql, made);
    if (statements.size > MAX_CACHED_STATEMENTS) {
      const oldest = statements.keys().next();
      if (oldest.done !== true) statements.delete(oldest.value);
    }
    return made;
  };

  const run = (sql: string, parameters: readonly SqlValue[]): number => {
    const { statement, order } = prepared(sql);
    return Number(statement.run(...bind(order, parameters)).changes);
  };
  const all = (sql: string, parameters: readonly SqlValue[]): readonly SqlRow[] => {
    const { statement, order } = prepared(sql);
    return statement.all(...bind(order, parameters)) as SqlRow[];
  };

  const inside: SqlRunner = {
    dialect: 'sqlite',
    run: (sql, parameters = []) => attempt(() => run(sql, parameters)),
    all: (sql, parameters = []) => attempt(() => all(sql, parameters)),
  };

  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const mine = last.then(() => {
      if (closed) throw storeClosed();
      return work();
    });
    last = mine.catch(() => undefined);
    return mine;
  };

  return {
    dialect: 'sqlite',
    run: (sql, parameters = []) => inTurn(() => whileBusy(() => run(sql, parameters))),
    all: (sql, parameters = []) => inTurn(() => whileBusy(() => all(sql, parameters))),
    transaction: (work) =>
      inTurn(async () => {
        await whileBusy(() => run('begin immediate', []));
        try {
          const result = await work(inside);
          await whileBusy(() => run('commit', []));
          return result;
        } catch (error) {
          try {
            run('rollback', []);
          } catch {
            // SQLite may have rolled back by itself; what went wrong first is what the caller is told.
          }
          throw error;
        }
      }),
    listen: () => () => undefined,
    async close(cut) {
      closeSoon();
      const forget = onAbort(cut, () => {
        endOfWaits = 0;
      });
      await inTurn(() => {
        closed = true;
        return attempt(() => {
          connection.close();
        });
      }).catch(() => undefined);
      forget();
    },
  };
}

/** What lies in the file, without a change to it. The file is there, and is one. */
export async function inspectSqlite(
  path: string,
  options: SqliteOptions = {},
): Promise<SqliteContents> {
  if (await hasLargeSchema(path)) return { kind: 'other' };
  return readSqlite(path, readContents, options);
}

/**
 * Another process may be writing the bytes that are looked at: a page that is read in two halves can look like
 * anything. What is large stays so, however often it is looked at.
 */
async function hasLargeSchema(path: string): Promise<boolean> {
  for (let look = 1; !isSchemaSmall(path); look += 1) {
    if (look === LOOKS) return true;
    await pause();
  }
  return false;
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, LAST_BUSY_PAUSE_MS);
  });
}

/**
 * Reads in a file that is there, by a connection that can change nothing. A journal that would change it first is
 * refused: a store of ours writes ahead, and has none. Another process may be making the store just now: it is looked
 * for again.
 */
export async function readSqlite<Result>(
  path: string,
  read: (connection: DatabaseSync) => Result,
  options: SqliteOptions = {},
): Promise<Result> {
  for (let look = 1; ; look += 1) {
    try {
      return await readOnce(path, read, options);
    } catch (error) {
      if (!OrionError.isInstance(error) || error.details['reason'] !== String(HOT_JOURNAL))
        throw error;
      if (look === LOOKS) {
        throw storeForeign(`${path}-journal`, 'would change the store, and Orion leaves none');
      }
    }
    await pause();
  }
}

async function readOnce<Result>(
  path: string,
  read: (connection: DatabaseSync) => Result,
  { busyMs = DEFAULT_BUSY_MS, signal }: SqliteOptions = {},
): Promise<Result> {
  const load = await loadSqlite();
  const end = performance.now() + busyMs;
  let closing = Number.POSITIVE_INFINITY;
  onAbort(signal, () => {
    closing = performance.now() + CLOSE_GRACE_MS;
  });
  return retryWhileBusy(
    () => Math.min(end, closing),
    () => {
      const connection = new load(path, { readOnly: true, timeout: 0 });
      try {
        connection.exec('pragma trusted_schema = off;');
        return read(connection);
      } finally {
        connection.close();
      }
    },
  );
}

async function loadSqlite(): Promise<typeof DatabaseSync> {
  try {
    const module = await import('node:sqlite');
    return module.DatabaseSync;
  } catch {
    throw storeUnavailable('This Node has no SQLite; 22.13 or newer has', { retryable: false });
  }
}

function connect(Database: typeof DatabaseSync, path: string): DatabaseSync {
  // The files beside it get the same mode from SQLite.
  if (path !== MEMORY) createPrivateFile(path);
  // No timeout: SQLite itself would wait by stopping this thread, the model's stream and all.
  const connection = new Database(path, { timeout: 0 });
  try {
    // No function and no virtual table that a schema names is run.
    connection.exec('pragma trusted_schema = off;');
    connection.exec('pragma journal_mode = wal; pragma synchronous = normal;');
    // At each checkpoint the disk is waited for, and this thread with it: every 16 MiB instead of every 4.
    connection.exec('pragma wal_autocheckpoint = 4096;');
    // A row that is deleted is overwritten: what a fold took away is not left in the file.
    connection.exec('pragma secure_delete = fast;');
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** `$1` is a name to SQLite and a cast is a syntax error: both are taken out, once for each text. */
function toSqlite(sql: string): { text: string; order: readonly number[] } {
  const order: number[] = [];
  const text = sql.replace(/\$(\d+)|::[a-z]+/gu, (_, number: string | undefined) => {
    if (number === undefined) return '';
    order.push(Number(number) - 1);
    return '?';
  });
  return { text, order };
}

function bind(order: readonly number[], parameters: readonly SqlValue[]): SqlScalar[] {
  return order.map((index) => {
    const value = parameters[index];
    if (value === undefined) throw new Error(`The parameter $${index + 1} is missing`);
    if (typeof value === 'object' && value !== null) throw new Error('SQLite takes no arrays');
    return value;
  });
}

async function retryWhileBusy<Result>(end: () => number, work: () => Result): Promise<Result> {
  for (let pause = FIRST_BUSY_PAUSE_MS; ; pause = Math.min(pause * 2, LAST_BUSY_PAUSE_MS)) {
    try {
      return work();
    } catch (error) {
      const code = resultCode(error);
      const busy = code !== null && ((code & 0xff) === BUSY || (code & 0xff) === LOCKED);
      if (!busy || performance.now() >= end()) throw translate(error);
    }
    await new Promise((resolve) => {
      setTimeout(resolve, pause);
    });
  }
}

/** Asynchronous only in its form, so that both engines look alike. */
// oxlint-disable-next-line typescript/require-await
async function attempt<Result>(work: () => Result): Promise<Result> {
  try {
    return work();
  } catch (error) {
    throw translate(error);
  }
}

function resultCode(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error)) return null;
  return typeof error.errcode === 'number' ? error.errcode : null;
}

function translate(error: unknown): unknown {
  const code = resultCode(error);
  if (code === null || !(error instanceof Error)) return error;
  if (REFUSALS.has(code & 0xff)) return new SqlRefusedError(String(code), error.message);
  return storeUnavailable(`The SQLite database cannot be used: ${error.message}`, {
    reason: String(code),
    retryable: PASSING.has(code & 0xff),
  });
}
