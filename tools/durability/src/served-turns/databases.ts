import { randomUUID } from 'node:crypto';

import { Client } from 'pg';

export type Row = Readonly<Record<string, unknown>>;

export type Connection = {
  readonly rowsOf: (sql: string, parameters?: readonly unknown[]) => Promise<readonly Row[]>;
  readonly end: () => Promise<void>;
};

export async function connectTo(server: string): Promise<Connection> {
  const client = new Client({ connectionString: server });
  await client.connect();
  return {
    rowsOf: async (sql, parameters = []) => (await client.query<Row>(sql, [...parameters])).rows,
    end: () => client.end(),
  };
}

/** Over a connection of its own. */
export async function rowsOf(
  server: string,
  sql: string,
  parameters: readonly unknown[] = [],
): Promise<readonly Row[]> {
  const connection = await connectTo(server);
  try {
    return await connection.rowsOf(sql, parameters);
  } finally {
    await connection.end();
  }
}

/** The one number that a query answers with. */
export async function numberOf(server: string, sql: string): Promise<number> {
  const [row = {}] = await rowsOf(server, sql);
  return Number(Object.values(row)[0]);
}

/** Makes an empty database in a Postgres. @returns its URL */
export async function makeDatabase(server: string): Promise<string> {
  const name = `orion_resume_${randomUUID().replaceAll('-', '')}`;
  await rowsOf(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
