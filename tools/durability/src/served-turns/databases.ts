import { randomUUID } from 'node:crypto';

import { Client } from 'pg';

export type Row = Readonly<Record<string, unknown>>;

/** Over a connection of its own. */
export async function rowsOf(
  server: string,
  sql: string,
  parameters: readonly unknown[] = [],
): Promise<readonly Row[]> {
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    return (await client.query<Row>(sql, [...parameters])).rows;
  } finally {
    await client.end();
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
