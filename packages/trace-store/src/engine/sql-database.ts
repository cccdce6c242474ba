import { OrionError } from '@orion/contracts';

export type SqlScalar = string | number | null;
/** An array is one parameter, and Postgres alone takes it (`unnest($1::text[])`). */
export type SqlValue = SqlScalar | readonly SqlScalar[];
/** Whole numbers are numbers, JSON columns are text, in both dialects. */
export type SqlRow = { readonly [column: string]: SqlScalar };

/**
 * Runs statements, written in the way of Postgres: parameters `$1`, `$2`, casts `$1::jsonb`. The SQLite engine
 * translates both, so that one text serves where the dialects agree.
 *
 * Rejects with `STORE_UNAVAILABLE` when nothing is known of the outcome, or nothing can be done with the database
 * at all; with `SqlRefusedError` when the database refused this statement or its values.
 */
export interface SqlRunner {
  readonly dialect: 'sqlite' | 'postgres';
  /** Resolves to the number of rows changed. */
  run(sql: string, parameters?: readonly SqlValue[]): Promise<number>;
  all(sql: string, parameters?: readonly SqlValue[]): Promise<readonly SqlRow[]>;
}

export interface SqlDatabase extends SqlRunner {
  /**
   * Everything that `work` does with the runner given to it happens, or nothing. SQLite begins it as a writer, so
   * that it never fails halfway for another writer's sake. `work` waits for nothing but that runner.
   */
  transaction<Result>(work: (inside: SqlRunner) => Promise<Result>): Promise<Result>;
  /** Calls back for each NOTIFY until stopped; a broken connection is made anew. Does nothing on SQLite. */
  listen(channel: string, onMessage: (payload: string) => void): () => void;
  /** What is under way has a moment to end, and none when `cut` is or gets aborted. */
  close(cut?: AbortSignal): Promise<void>;
}

/** The statement or its values are wrong: the same statement never works, and others still do. */
export class SqlRefusedError extends Error {
  /** The SQLSTATE, or SQLite's result code as a number. */
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(`The database refused a statement (${reason}): ${message}`);
    this.name = 'SqlRefusedError';
    this.reason = reason;
  }
}

export function storeUnavailable(
  message: string,
  options: { readonly reason?: string; readonly retryable?: boolean } = {},
): OrionError {
  return new OrionError({
    code: 'STORE_UNAVAILABLE',
    message,
    retryable: options.retryable ?? true,
    ...(options.reason === undefined ? {} : { details: { reason: options.reason } }),
  });
}

/**
 * Something in the place of the store that is not this user's. `adopt`: `orion trust` takes it over; otherwise only its
 * removal helps.
 */
export function storeForeign(
  path: string,
  reason: string,
  wayOn: 'adopt' | 'remove' = 'remove',
): OrionError {
  return new OrionError({
    code: 'STORE_FOREIGN',
    message: `${path} is not used as the store: it ${reason}`,
    hint:
      wayOn === 'adopt'
        ? 'Run `orion trust`: it shows what is in it, and makes it yours. Or move it away.'
        : 'Move it away, or name another folder with ORION_STATE_DIR.',
    details: { path, adoptable: wayOn === 'adopt' },
  });
}

export function storeClosed(): OrionError {
  return storeUnavailable('The store is closed', { retryable: false });
}

/** `insert into <table> (<columns>) values (…), (…)` with a cast for each column that names one. */
export function insertStatement(
  table: string,
  columns: readonly (string | { readonly name: string; readonly cast: string })[],
  rows: number,
): string {
  const names = columns.map((column) => (typeof column === 'string' ? column : column.name));
  const tuples = Array.from({ length: rows }, (_, row) => {
    const values = columns.map((column, index) => {
      const cast = typeof column === 'string' ? '' : `::${column.cast}`;
      return `$${row * columns.length + index + 1}${cast}`;
    });
    return `(${values.join(', ')})`;
  });
  return `insert into ${table} (${names.join(', ')}) values ${tuples.join(', ')}`;
}
