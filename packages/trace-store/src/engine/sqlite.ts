import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { OrionError } from '@orion/contracts';
import { checkDatabaseFile, createPrivateFile } from './database-file.ts';
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
import type {
  DatabaseLock,
  SqlDatabase,
  SqlRow,
  SqlRunner,
  SqlScalar,
  SqlValue,
} from './sql-database.ts';

export type SqliteOptions = {
  /** How long to retry while another connection writes; 10,000 ms when left out. */
  readonly busyMs?: number;
  /** Ends the wait for a busy database while it is being opened, as closing does. */
  readonly signal?: AbortSignal;
};

/** A database without a file. */
export const MEMORY = ':memory:';
/** Of the file whose lock says that a process serves the database. */
const LOCK_ENDING = '-lock';
const DEFAULT_BUSY_MS = 10_000;
/** How long pending statements may wait for another writer once the database is closed. */
const CLOSE_GRACE_MS = 250;
const FIRST_BUSY_PAUSE_MS = 1;
const LAST_BUSY_PAUSE_MS = 20;
const MAX_CACHED_STATEMENTS = 200;
/** How often to look at something that another process may be about to finish. */
const LOOKS = 5;
const LOOK_PAUSE_MS = 20;

const BUSY = 5;
const LOCKED = 6;
/** READONLY_ROLLBACK: a journal beside the file has to be rolled back first. */
const HOT_JOURNAL = 776;
/** Temporary failures: those two, a disk error, and a full disk. */
const PASSING: ReadonlySet<number> = new Set([BUSY, LOCKED, 10, 13]);
/** Result codes that are about the statement: ERROR, TOOBIG, CONSTRAINT, MISMATCH. */
const REFUSALS: ReadonlySet<number> = new Set([1, 18, 19, 20]);

/**
 * One connection to a SQLite file, or to `:memory:`.
 *
 * 1. One thing happens at a time: a statement issued during a transaction runs after it.
 * 2. A busy database is retried for `busyMs`, and the thread is free between two attempts.
 * 3. Only its owner can read the file and the files beside it.
 * 4. An acknowledged transaction survives the death of the process. A power failure may lose the last ones
 *    (synchronous NORMAL), but never a part of one.
 */
export async function openSqlite(path: string, options: SqliteOptions = {}): Promise<SqlDatabase> {
  const { busyMs = DEFAULT_BUSY_MS } = options;
  const load = await loadSqlite();
  // Closing ends every wait, including those that have not begun.
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
    if (known !== undefined) return known;
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
            // SQLite may have rolled back by itself; the caller gets the first error.
          }
          throw error;
        }
      }),
    listen: () => () => undefined,
    takeLock: () => attempt(() => lockFile(load, path)),
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

/** What the file contains. The file must exist; it is not changed. */
export async function inspectSqlite(
  path: string,
  options: SqliteOptions = {},
): Promise<SqliteContents> {
  if (await hasLargeSchema(path)) return { kind: 'other' };
  return readSqlite(path, readContents, options);
}

/**
 * Another process may be writing the bytes that are read here, and a half-written page can look like anything. A schema
 * that really is large is so at every look.
 */
async function hasLargeSchema(path: string): Promise<boolean> {
  for (let look = 1; !isSchemaSmall(path); look += 1) {
    if (look === LOOKS) return true;
    await pause(LOOK_PAUSE_MS);
  }
  return false;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}

/**
 * Reads an existing file through a connection that cannot change it. A rollback journal, which would change it first, is
 * refused: our stores use write-ahead logging and have none. Another process may just be creating the store, so it is
 * looked for again.
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
        throw storeForeign(
          `${path}-journal`,
          'would change the store, and Orion never leaves such a file behind',
        );
      }
    }
    await pause(LOOK_PAUSE_MS);
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
    throw storeUnavailable('This version of Node has no SQLite; 22.13 and later have it', {
      retryable: false,
    });
  }
}

function connect(Database: typeof DatabaseSync, path: string): DatabaseSync {
  // SQLite gives the files beside it the same mode.
  if (path !== MEMORY) createPrivateFile(path);
  // No timeout: SQLite would wait by blocking this thread, and the model's stream with it.
  const connection = new Database(path, { timeout: 0 });
  try {
    // No function or virtual table named by a schema runs.
    connection.exec('pragma trusted_schema = off;');
    connection.exec('pragma journal_mode = wal; pragma synchronous = normal;');
    // Each checkpoint blocks this thread until the disk has synced: every 16 MiB instead of every 4.
    connection.exec('pragma wal_autocheckpoint = 4096;');
    // Deleted rows are overwritten, so that nothing a fold removed stays in the file.
    connection.exec('pragma secure_delete = fast;');
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** A connection that is collected as garbage is closed, and its lock is gone. */
const LOCKING = new Set<DatabaseSync>();

/**
 * The lock is one of the system, on an empty file beside the database: it ends with the process, however that ends.
 * Nothing is written into the file.
 */
function lockFile(Database: typeof DatabaseSync, path: string): DatabaseLock | null {
  const gone = new AbortController().signal;
  if (path === MEMORY) return { isOnly: true, gone, release: () => Promise.resolve() };
  const file = `${path}${LOCK_ENDING}`;
  createPrivateFile(file);
  if (checkDatabaseFile(file)) throw storeForeign(file, 'is not an empty file');
  const connection = new Database(file, { timeout: 0 });
  try {
    connection.exec('begin exclusive');
  } catch (error) {
    connection.close();
    const code = resultCode(error);
    if (code !== null && (code & 0xff) === BUSY) return null;
    throw error;
  }
  LOCKING.add(connection);
  const release = (): Promise<void> => {
    if (LOCKING.delete(connection)) connection.close();
    return Promise.resolve();
  };
  return { isOnly: true, gone, release };
}

/** To SQLite `$1` is a name and a cast is a syntax error: both are replaced, once per statement. */
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
  for (let next = FIRST_BUSY_PAUSE_MS; ; next = Math.min(next * 2, LAST_BUSY_PAUSE_MS)) {
    try {
      return work();
    } catch (error) {
      const code = resultCode(error);
      const busy = code !== null && ((code & 0xff) === BUSY || (code & 0xff) === LOCKED);
      if (!busy || performance.now() >= end()) throw translate(error);
    }
    await pause(next);
  }
}

/** Asynchronous in form only, so that both engines look alike. */
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
