/** What the store holds: a server that stores more for each turn, the longer it runs, is slower each day. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { Client } from 'pg';

export type Tables = {
  /** Rows of each table. */
  readonly rows: Readonly<Record<string, number>>;
  /** What is not in use any more: pages of SQLite, rows of Postgres. */
  readonly dead: number;
};

export async function readTables(workspace: string, databaseUrl: string | null): Promise<Tables> {
  return databaseUrl === null ? readSqlite(workspace) : readPostgres(databaseUrl);
}

/** Tables that have grown by more than the share, compared with the number of turns. */
export function grownTables(before: Tables, after: Tables, share: number): readonly string[] {
  const perTurn = ({ rows }: Tables, table: string): number =>
    (rows[table] ?? 0) / Math.max(rows['turn'] ?? 0, 1);
  return Object.keys(after.rows).filter(
    (table) => perTurn(after, table) > perTurn(before, table) * (1 + share),
  );
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
    const [free] = numbers('pragma freelist_count');
    return {
      rows: Object.fromEntries(names.map((name) => [name, count(name)])),
      dead: Number(free?.['freelist_count']),
    };
  } finally {
    database.close();
  }
}

async function readPostgres(url: string): Promise<Tables> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string; dead: string }>(
      'select relname as name, n_dead_tup as dead from pg_stat_user_tables',
    );
    const rows: Record<string, number> = {};
    for (const { name } of tables) {
      const counted = await client.query<{ rows: string }>(
        `select count(*) as rows from "${name}"`,
      );
      rows[name] = Number(counted.rows[0]?.rows);
    }
    return { rows, dead: tables.reduce((sum, { dead }) => sum + Number(dead), 0) };
  } finally {
    await client.end();
  }
}
