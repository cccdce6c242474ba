/** Queues on a Postgres of their own, whose pauses pass when a test says so. */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

import { openStore } from '@orion/agent';
import type { Store } from '@orion/agent';
import { systemClock } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { onTestFinished } from 'vitest';

import { PgBossQueue } from '../queue/pg-boss-queue.ts';
import type { PgBossQueueOptions } from '../queue/pg-boss-queue.ts';
import { makeDatabase } from './test-database.ts';
import { MESSAGE } from './test-turns.ts';

export async function openTestStore(url?: string): Promise<Store> {
  const store = openStore(
    { kind: 'postgres', url: url ?? (await makeDatabase()) },
    { clock: systemClock },
  );
  onTestFinished(() => store.close());
  return store;
}

export async function openQueue(
  { servedTurns: turns, engineDatabase }: Pick<Store, 'servedTurns' | 'engineDatabase'>,
  options: Partial<Omit<PgBossQueueOptions, 'database'>> = {},
) {
  if (engineDatabase === null) throw new Error('no Postgres');
  const clock = createFakeClock();
  const queue = await PgBossQueue.open({
    database: engineDatabase,
    turns,
    clock,
    isOnly: false,
    perProject: { others: Infinity, projects: new Map() },
    onError: () => undefined,
    ...options,
  });
  onTestFinished(() => queue.drain());
  const pass = async (milliseconds = 1_000): Promise<void> => {
    await clock.advance(milliseconds);
    await wait(50);
  };
  return { queue, pass };
}

export const newTurn = (projectId = 'p') => ({
  ...MESSAGE,
  projectId,
  turnId: randomUUID(),
  newConversationId: randomUUID(),
  conversationId: randomUUID(),
});
