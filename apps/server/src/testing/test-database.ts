import { randomUUID } from 'node:crypto';

import { openStore } from '@orion/agent';
import { systemClock } from '@orion/contracts';
import { inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    postgresBroker: number;
  }
}

/** A new database in the Postgres of this run. */
export async function makeDatabase(): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${inject('postgresBroker')}/`);
  const url = new URL(await answer.text());
  const name = `orion_server_${randomUUID().replaceAll('-', '')}`;
  const server = openStore({ kind: 'postgres', url: url.href }, { clock: systemClock });
  await server.engineDatabase?.executeSql(`create database ${name}`);
  await server.close();
  url.pathname = `/${name}`;
  return url.href;
}
