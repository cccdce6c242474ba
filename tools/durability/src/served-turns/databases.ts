import { randomUUID } from 'node:crypto';

import { Client } from 'pg';

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
