/** What the store holds: a server that stores more for each turn, the longer it runs, is slower each day. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { Client } from 'pg';

const TABLE_NAME = `case schemaname when 'public' then relname else schemaname || '.' || relname end`;

/** Rows of each table. Those of the engine that has the queue carry the name of its schema. */
export type Tables = Readonly<Record<string, number>>;

export async function readTables(workspace: string, databaseUrl: string | null): Promise<Tables> {
  return databaseUrl === null ? readSqlite(workspace) : readPostgres(databaseUrl);
}

/** Tables that have grown by more than the share, compared with the number of turns. */
export function grownTables(before: Tables, after: Tables, share: number): readonly string[] {
  const perTurn = (tables: Tables, table: string): number =>
    (tables[table] ?? 0) / Math.max(tables['turn'] ?? 0, 1);
  return Object.keys(after).filter(
    (table) => perTurn(after, table) > perTurn(before, table) * (1 + share),
  );
}

/** Of the log that SQLite writes ahead; 0 on Postgres. */
export async function walKbOf(workspace: string): Promise<number> {
  const wal = await stat(join(workspace, '.orion', 'orion.db-wal')).catch(() => null);
  return Math.round((wal?.size ?? 0) / 1024);
}

function readSqlite(workspace: string): Tables {
  const database = new DatabaseSync(join(workspace, '.orion', 'orion.db'), {
    readOnly: true,
    timeout: 10_000,
  });
  try {
    const numbers = (sql: string): readonly Record<string, unknown>[] =>
      database.prepare(sql).all();
    const names = numbers("select name from sqlite_schema where type = 'table'").map(({ name }) =>
      String(name),
    );
    const count = (table: string): number =>
      Number(numbers(`select count(*) as rows from "${table}"`)[0]?.['rows']);
    return Object.fromEntries(names.map((name) => [name, count(name)]));
  } finally {
    database.close();
  }
}

async function readPostgres(url: string): Promise<Tables> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: names } = await client.query<{ name: string; quoted: string }>(
      `select ${TABLE_NAME} as name, format('%I.%I', schemaname, relname) as quoted
       from pg_stat_user_tables`,
    );
    const tables: Record<string, number> = {};
    for (const { name, quoted } of names) {
      const counted = await client.query<{ rows: string }>(
        `select count(*) as rows from ${quoted}`,
      );
      tables[name] = Number(counted.rows[0]?.rows);
    }
    return tables;
  } finally {
    await client.end();
  }
}

type TableSize = {
  /** As Postgres estimates them. */
  readonly rows: number;
  /** Rows that were changed or deleted, and not removed so far. */
  readonly dead: number;
  /** With its indexes. */
  readonly kb: number;
};

export type StoreSample = {
  readonly seconds: number;
  readonly tables: Readonly<Record<string, TableSize>>;
  /** Of the engine that has the queue. */
  readonly jobs: number;
};

export type StoreWatch = {
  sample(seconds: number): Promise<StoreSample>;
  close(): Promise<void>;
};

const SIZES = `
  select ${TABLE_NAME} as name, n_live_tup::float as rows, n_dead_tup::float as dead,
    pg_total_relation_size(relid)::float / 1024 as kb
  from pg_stat_user_tables`;

/** @param isQueued the engine has the queue */
export async function watchStore(url: string, isQueued: boolean): Promise<StoreWatch> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return {
    async sample(seconds) {
      const { rows } = await client.query<TableSize & { readonly name: string }>(SIZES);
      const tables = Object.fromEntries(rows.map(({ name, ...size }) => [name, size]));
      if (!isQueued) return { seconds, tables, jobs: 0 };
      const counted = await client.query<{ jobs: number }>(
        // One that moves to run alone has two for a moment.
        'select count(distinct id)::float as jobs from orion_queue.job',
      );
      return { seconds, tables, jobs: counted.rows[0]?.jobs ?? 0 };
    },
    close: () => client.end(),
  };
}
