import { inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The port of the global setup of testkit, `postgres/testing/postgres-broker.ts`. */
    postgresBroker: number;
  }
}

/** The Postgres of this run (`DATABASE_URL`, if that is set): shared by all, so make a database of your own in it. */
export async function testPostgresUrl(): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${inject('postgresBroker')}/`);
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}
