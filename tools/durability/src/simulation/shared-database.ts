import { DatabaseSync } from 'node:sqlite';
import type { StatementSync } from 'node:sqlite';

import { migrate, sharedTables, SqlRefusedError } from '@orion/trace-store/over-database';
import type { SqlDatabase, SqlRow, SqlRunner, SqlValue } from '@orion/trace-store/over-database';

import { JOBS_TABLE } from './simulated-jobs.ts';
import { watchRows } from './watched-rows.ts';
import type { World } from './world.ts';

/** The rows of each table. */
export type StoreCopy = readonly { readonly name: string; readonly rows: readonly SqlRow[] }[];

/** Rewrites a statement, so that a defect can be planted in it. */
export type Rewrite = (sql: string) => string;

/**
 * The one store of a run: a SQLite in memory, whose time and chance are those of the world.
 *
 * 1. What is executed takes no time, and one thing happens at a time.
 * 2. A failover takes it back to a copy. What was under way before is answered with a failure.
 */
export class SharedDatabase {
  #world: World;
  readonly #connection = new DatabaseSync(':memory:');
  readonly #rewrite: Rewrite;
  #statements = new Map<string, { statement: StatementSync; order: readonly number[] }>();
  #last: Promise<unknown> = Promise.resolve();
  #executing = '';
  #isRestoring = false;
  /** How often it was taken back. */
  timeline = 0;
  readonly #listeners = new Set<() => void>();

  private constructor(world: World, rewrite: Rewrite) {
    this.#world = world;
    this.#rewrite = rewrite;
    const options = { deterministic: false, varargs: true };
    this.#connection.function('random', options, () => this.#world.chance.between(0, 2 ** 32));
    this.#connection.function('unixepoch', options, () => this.#world.clock.now() / 1_000);
  }

  static async open(world: World, rewrite: Rewrite): Promise<SharedDatabase> {
    const database = new SharedDatabase(world, rewrite);
    await migrate(database.direct());
    await database.atomically('', async (inside) => {
      for (const table of [...sharedTables('sqlite'), JOBS_TABLE]) await inside.run(table);
    });
    watchRows(database.#connection, {
      executing: () => database.#executing,
      onViolation: (what) => {
        if (!database.#isRestoring) database.#world.fail(what);
      },
    });
    return database;
  }

  /** Without anything, for the next run: to make it anew would take longer than a run. */
  empty(world: World): void {
    this.#world = world;
    this.#last = Promise.resolve();
    this.#listeners.clear();
    this.timeline = 0;
    for (const name of this.#tables()) this.#run(`delete from ${name}`, []);
  }

  /** What refers to another comes before it. */
  #tables(): readonly string[] {
    return this.#all(
      `select name from sqlite_schema
       where type = 'table' and name not in ('schema_step', 'sqlite_sequence') order by rowid desc`,
      [],
    ).map(({ name }) => String(name));
  }

  /** In one transaction, for the process of that name. */
  atomically<Result>(
    process: string,
    work: (inside: SqlRunner) => Promise<Result>,
  ): Promise<Result> {
    const mine = this.#last.then(async () => {
      this.#executing = process;
      this.#run('begin immediate', []);
      try {
        const result = await work(this.#inside);
        this.#run('commit', []);
        return result;
      } catch (error) {
        this.#run('rollback', []);
        throw error;
      }
    });
    this.#last = mine.catch(() => undefined);
    return mine;
  }

  /** What the store knows, past every process. */
  rows(sql: string, ...parameters: readonly SqlValue[]): readonly SqlRow[] {
    return this.#all(sql, parameters);
  }

  openTurns(): number {
    return this.rows('select 1 from turn where state is not null and finished_at is null').length;
  }

  copy(): StoreCopy {
    return this.#tables().map((name) => ({ name, rows: this.#all(`select * from ${name}`, []) }));
  }

  failOver(copy: StoreCopy): void {
    this.#world.note('failover');
    this.timeline += 1;
    this.#isRestoring = true;
    for (const name of this.#tables()) this.#run(`delete from ${name}`, []);
    for (const { name, rows } of copy.toReversed()) {
      for (const row of rows) {
        const columns = Object.keys(row);
        const places = columns.map((_, index) => `$${index + 1}`);
        this.#run(
          `insert or replace into ${name} (${columns.join(', ')}) values (${places.join(', ')})`,
          Object.values(row),
        );
      }
    }
    this.#isRestoring = false;
  }

  /** Calls back when a process has changed something that readers wait for. */
  listen(callback: () => void): () => void {
    this.#listeners.add(callback);
    return () => this.#listeners.delete(callback);
  }

  notify(): void {
    for (const callback of this.#listeners) callback();
  }

  close(): void {
    this.#connection.close();
  }

  readonly #inside: SqlRunner = {
    dialect: 'sqlite',
    run: (sql, parameters = []) => settle(() => this.#run(sql, parameters)),
    all: (sql, parameters = []) => settle(() => this.#all(sql, parameters)),
  };

  /** Without a process, its ways and its faults. */
  direct(): SqlDatabase {
    return {
      ...this.#inside,
      transaction: (work) => this.atomically('', work),
      listen: () => () => undefined,
      takeLock: () => Promise.resolve(null),
      close: () => Promise.resolve(),
    };
  }

  #run(sql: string, parameters: readonly SqlValue[]): number {
    const { statement, order } = this.#prepared(sql);
    return Number(statement.run(...bind(order, parameters)).changes);
  }

  #all(sql: string, parameters: readonly SqlValue[]): readonly SqlRow[] {
    const { statement, order } = this.#prepared(sql);
    return statement.all(...bind(order, parameters)) as SqlRow[];
  }

  #prepared(sql: string): { statement: StatementSync; order: readonly number[] } {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const order: number[] = [];
    const text = this.#rewrite(sql).replace(/\$(\d+)|::[a-z]+/gu, (_, number?: string) => {
      if (number === undefined) return '';
      order.push(Number(number) - 1);
      return '?';
    });
    const made = { statement: this.#connection.prepare(text), order };
    this.#statements.set(sql, made);
    return made;
  }
}

function bind(
  order: readonly number[],
  parameters: readonly SqlValue[],
): (string | number | null | Uint8Array)[] {
  return order.map((index) => {
    const value: unknown = parameters[index];
    // Of a copy.
    if (value instanceof Uint8Array) return value;
    if (value === undefined || (typeof value === 'object' && value !== null))
      throw new Error(`SQLite does not take the parameter $${index + 1}`);
    return value as string | number | null;
  });
}

/** Asynchronous in form, and a refusal as the product knows it. */
// oxlint-disable-next-line typescript/require-await
async function settle<Result>(work: () => Result): Promise<Result> {
  try {
    return work();
  } catch (error) {
    if (error instanceof Error && 'errcode' in error)
      throw new SqlRefusedError(String(error.errcode), error.message);
    throw error;
  }
}
