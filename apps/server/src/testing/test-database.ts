import { randomUUID } from 'node:crypto';

import { openStore } from '@orion/agent';
import { systemClock } from '@orion/contracts';
import { inject } from 'vitest';

import { PgBossJobs } from '../queue/pg-boss-jobs.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    postgresBroker: number;
  }
}

let template: Promise<string> | null = null;

/** A new database in the Postgres of this run, with the tables of the store and of the queue: they are made once. */
export async function makeDatabase(): Promise<string> {
  template ??= makeTemplate();
  return createDatabase(`template ${nameOf(await template)}`);
}

export async function makeEmptyDatabase(): Promise<string> {
  return createDatabase('');
}

async function makeTemplate(): Promise<string> {
  const url = await makeEmptyDatabase();
  const store = openStore({ kind: 'postgres', url }, { clock: systemClock });
  const { engineDatabase: database, servedTurns } = store;
  if (database === null) throw new Error('no Postgres');
  try {
    await servedTurns.count({});
    const jobs = await PgBossJobs.open({ database, clock: systemClock, onError: () => undefined });
    await jobs.close();
  } finally {
    await store.close();
  }
  return url;
}

async function createDatabase(source: string): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${inject('postgresBroker')}/`);
  const url = new URL(await answer.text());
  const name = `orion_server_${randomUUID().replaceAll('-', '')}`;
  const server = openStore({ kind: 'postgres', url: url.href }, { clock: systemClock });
  await server.engineDatabase?.executeSql(`create database ${name} ${source}`);
  await server.close();
  url.pathname = `/${name}`;
  return url.href;
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1);
}
