import { OrionError } from '@orion/contracts';

export type SqlScalar = string | number | null;
/** An array is a single parameter, for Postgres only (`unnest($1::text[])`). */
export type SqlValue = SqlScalar | readonly SqlScalar[];
/** In both dialects integers are numbers and JSON columns are text. */
export type SqlRow = { readonly [column: string]: SqlScalar };

/**
 * Runs statements in the syntax of Postgres: parameters `$1`, `$2`, casts `$1::jsonb`. The SQLite engine translates
 * both, so that one statement serves both dialects where they agree.
 *
 * Rejects with `STORE_UNAVAILABLE` if the outcome is unknown or the database cannot be used at all, and with
 * `SqlRefusedError` if the database refused this statement or its values.
 */
export interface SqlRunner {
  readonly dialect: 'sqlite' | 'postgres';
  /** Resolves to the number of changed rows. */
  run(sql: string, parameters?: readonly SqlValue[]): Promise<number>;
  all(sql: string, parameters?: readonly SqlValue[]): Promise<readonly SqlRow[]>;
}

export type DatabaseLock = {
  /** Nobody shared it when it was taken. */
  readonly isOnly: boolean;
  /** Aborted when the lock is gone, as with the connection that had it. */
  readonly gone: AbortSignal;
  release(): Promise<void>;
};

/** Letters, digits and `-`, 50 at most: those with the same word share a lock. Postgres only. */
export type LockOptions = { readonly sharedBy?: string };

export type TransactionOptions = { readonly isLimited?: boolean };

export interface SqlDatabase extends SqlRunner {
  /**
   * Either everything that `work` does with its runner happens, or nothing. SQLite begins it as a writer, so that it
   * never fails halfway because of another writer. `work` must wait for nothing but that runner. `isLimited: false` lets
   * its statements take any time.
   */
  transaction<Result>(
    work: (inside: SqlRunner) => Promise<Result>,
    options?: TransactionOptions,
  ): Promise<Result>;
  /**
   * Calls back for each NOTIFY of other databases than this one, most of which are in other processes, until stopped; a
   * broken connection is replaced. Does nothing on SQLite.
   */
  listen(channel: string, onMessage: (payload: string) => void): () => void;
  /**
   * Takes the one lock of this database, which ends with the process; null if another one has it that
   * does not share it.
   */
  takeLock(options?: LockOptions): Promise<DatabaseLock | null>;
  /**
   * For a library that keeps tables of its own in the same database: any text, several statements as well, with the
   * values and the result of the driver. Postgres only.
   */
  readonly raw?: (text: string, values?: readonly unknown[]) => Promise<unknown>;
  /** Pending statements have a moment to finish, or none once `cut` is aborted. */
  close(cut?: AbortSignal): Promise<void>;
}

/** The statement or its values are wrong: the same statement can never work, while others still can. */
export class SqlRefusedError extends Error {
  /** The SQLSTATE, or SQLite's result code as a number. */
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(`The database refused a statement (${reason}): ${message}`);
    this.name = 'SqlRefusedError';
    this.reason = reason;
  }
}

/** Thrown by the work of a transaction that undoes itself: the database has answered, and nothing is wrong with it. */
export class RolledBack extends Error {}

export function storeUnavailable(
  message: string,
  { retryable, reason }: { readonly retryable: boolean; readonly reason?: string | null },
): OrionError {
  return new OrionError({
    code: 'STORE_UNAVAILABLE',
    message,
    retryable,
    details: typeof reason === 'string' ? { reason } : {},
  });
}

/** The outcome is unknown, and the same call may be repeated. */
export function isUnavailable(error: unknown): boolean {
  return OrionError.isInstance(error) && error.code === 'STORE_UNAVAILABLE' && error.retryable;
}

/**
 * Something in the place of the store does not belong to this user. `orion trust` takes over what is adoptable;
 * anything else has to be removed.
 */
export function storeForeign(
  path: string,
  reason: string,
  { adoptable = false }: { readonly adoptable?: boolean } = {},
): OrionError {
  return new OrionError({
    code: 'STORE_FOREIGN',
    message: `${path} is not used as the store: it ${reason}`,
    hint: adoptable
      ? 'Run `orion trust`: it shows what is in it, and makes it yours. Or move it away.'
      : 'Move it away, or name another folder with ORION_STATE_DIR.',
    details: { path, adoptable },
  });
}

export function storeClosed(): OrionError {
  return storeUnavailable('The store is closed', { retryable: false });
}

/**
 * An SQL expression for the database's own time, in milliseconds since the epoch. What is compared between processes is
 * measured by it: the clock of a process may be days wrong.
 */
export function databaseNow(dialect: SqlRunner['dialect']): string {
  return dialect === 'postgres'
    ? 'cast(extract(epoch from statement_timestamp()) * 1000 as bigint)'
    : "cast(unixepoch('subsec') * 1000 as integer)";
}

/** SQLite allows 32,766 parameters. */
const ROWS_PER_INSERT = 1_000;

/** Inserts any number of rows, in as many statements as necessary. */
export async function insertAll(
  runner: SqlRunner,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly SqlScalar[])[],
): Promise<void> {
  for (let start = 0; start < rows.length; start += ROWS_PER_INSERT) {
    const part = rows.slice(start, start + ROWS_PER_INSERT);
    await runner.run(insertStatement(table, columns, part.length), part.flat());
  }
}

/** `insert into <table> (<columns>) values (…), (…)`. */
export function insertStatement(table: string, columns: readonly string[], rows: number): string {
  const tuples = Array.from({ length: rows }, (_, row) => {
    const values = columns.map((_column, index) => `$${row * columns.length + index + 1}`);
    return `(${values.join(', ')})`;
  });
  return `insert into ${table} (${columns.join(', ')}) values ${tuples.join(', ')}`;
}

/**
 * `where a = $1 and b > $2` for the conditions `{ 'a =': …, 'b >': … }`. Conditions whose value is undefined are
 * left out; the result is empty if none remains. The values are appended to `parameters`.
 */
export function whereAll(
  conditions: Readonly<Record<string, SqlScalar | undefined>>,
  parameters: SqlValue[],
): string {
  const terms = Object.entries(conditions).flatMap(([condition, value]) =>
    value === undefined ? [] : [`${condition} $${parameters.push(value)}`],
  );
  return terms.length === 0 ? '' : `where ${terms.join(' and ')}`;
}

/** Calls `action` once the signal is aborted, at once if it already is. The returned function cancels that. */
export function onAbort(signal: AbortSignal | undefined, action: () => void): () => void {
  if (signal?.aborted === true) action();
  signal?.addEventListener('abort', action);
  return () => signal?.removeEventListener('abort', action);
}
