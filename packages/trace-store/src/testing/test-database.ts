import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { testPostgresUrl } from './test-postgres-url.ts';

/** A database of this test file's own in the run's Postgres; `url()` is known inside tests. */
export function useTestDatabase(): { readonly url: () => string } {
  const name = `orion_test_${randomUUID().replaceAll('-', '')}`;
  let server = '';
  let url = '';
  beforeAll(async () => {
    server = await testPostgresUrl();
    url = inDatabase(server, name);
    await execute(server, `create database ${name}`);
  }, 30_000);
  afterAll(async () => {
    if (server !== '') await execute(server, `drop database if exists ${name} with (force)`);
  });
  return { url: () => url };
}

export function inDatabase(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** One statement on a connection of its own. */
export async function execute(url: string, sql: string): Promise<readonly unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
