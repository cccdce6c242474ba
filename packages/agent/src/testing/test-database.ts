import { randomUUID } from 'node:crypto';

import { systemClock } from '@orion/contracts';
import { openStore } from '@orion/trace-store';
import { afterAll, beforeAll, inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The port of the global setup of testkit, `postgres/testing/postgres-broker.ts`. */
    postgresBroker: number;
  }
}

/** A database of this test file's own in the run's Postgres; `url()` is known inside tests. */
export function useTestDatabase(): {
  readonly url: () => string;
  /** Statements of a test, past the ports of the store. */
  readonly execute: (sql: string) => Promise<void>;
} {
  const name = `orion_test_${randomUUID().replaceAll('-', '')}`;
  let server = '';
  let url = '';
  const execute = async (at: string, sql: string): Promise<void> => {
    const store = openStore({ kind: 'postgres', url: at }, { clock: systemClock });
    try {
      await store.engineDatabase?.executeSql(sql);
    } finally {
      await store.close();
    }
  };
  beforeAll(async () => {
    const response = await fetch(`http://127.0.0.1:${inject('postgresBroker')}/`);
    server = await response.text();
    if (!response.ok) throw new Error(server);
    await execute(server, `create database ${name}`);
    const own = new URL(server);
    own.pathname = `/${name}`;
    url = own.href;
  }, 30_000);
  afterAll(async () => {
    if (url !== '') await execute(server, `drop database if exists ${name} with (force)`);
  });
  return { url: () => url, execute: (sql) => execute(url, sql) };
}
