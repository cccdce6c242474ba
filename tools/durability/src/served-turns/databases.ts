import { randomUUID } from 'node:crypto';

import { Client } from 'pg';

/** The one number that a query answers with. */
export async function numberOf(server: string, sql: string): Promise<number> {
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, string>>(sql);
    return Number(Object.values(rows[0] ?? {})[0]);
  } finally {
    await client.end();
  }
}

/** Makes an empty database in a Postgres. @returns its URL */
export async function makeDatabase(server: string): Promise<string> {
  const name = `orion_resume_${randomUUID().replaceAll('-', '')}`;
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(`create database ${name}`);
  } finally {
    await client.end();
  }
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
