import { createServer } from 'node:http';
import type { TestProject } from 'vitest/node';
import { startPostgres } from '../start-postgres.ts';
import type { TestPostgres } from '../start-postgres.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The port of the broker. */
    postgresBroker: number;
  }
}

/**
 * The global setup of tests that may want a Postgres: one server for all of a run, started when the first of them
 * asks, so that a run without any does not pay for it.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const own = process.env['DATABASE_URL'];
  let started: Promise<TestPostgres> | null = null;
  const url = async (): Promise<string> => {
    if (own !== undefined && own !== '') return own;
    started ??= startPostgres();
    return (await started).url;
  };
  const broker = createServer((_, response) => {
    url().then(
      (text) => response.end(text),
      (error: unknown) => {
        response.statusCode = 500;
        response.end(String(error));
      },
    );
  });
  await new Promise<void>((resolve) => {
    broker.listen(0, '127.0.0.1', resolve);
  });
  const address = broker.address();
  if (typeof address !== 'object' || address === null) throw new Error('The broker has no port');
  project.provide('postgresBroker', address.port);
  return async () => {
    broker.closeAllConnections();
    broker.close();
    const server = await started?.catch(() => null);
    await server?.stop();
  };
}
