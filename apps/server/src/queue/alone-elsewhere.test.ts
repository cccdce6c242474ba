import { randomUUID } from 'node:crypto';

import type { Store } from '@orion/agent';
import { systemClock } from '@orion/contracts';
import type { TurnAttempt } from '@orion/contracts';
import { expect, it, onTestFinished } from 'vitest';

import { openTestStore } from '../testing/test-queue.ts';
import { MESSAGE } from '../testing/test-turns.ts';
import { PgBossQueue } from './pg-boss-queue.ts';

/** Hazard: while one process runs a turn alone, the others take no turns, or do not see that this process has died. */

const SILENT = `update orion_queue.job set heartbeat_on = heartbeat_on - interval '11 seconds'
  where name = 'turn.alone.v1' and state = 'active'`;

/** A process that runs `suspects` alone, and what runs alone for as long as it lives. */
async function openProcess({ engineDatabase, servedTurns }: Store, suspects: readonly string[]) {
  if (engineDatabase === null) throw new Error('no Postgres');
  const errors: unknown[] = [];
  let isDead = false;
  const queue = await PgBossQueue.open({
    database: {
      ...engineDatabase,
      executeSql: (text, values) =>
        isDead ? Promise.reject(new Error('dead')) : engineDatabase.executeSql(text, values),
    },
    turns: servedTurns,
    clock: systemClock,
    isOnly: false,
    perProject: { others: Infinity, projects: new Map() },
    onError: (error) => errors.push(error),
  });
  const isOver = Promise.withResolvers<void>();
  onTestFinished(async () => {
    isOver.resolve();
    await queue.drain();
  });
  const attempts: TurnAttempt[] = [];
  const work = (): void =>
    queue.work(
      async (attempt) => {
        attempts.push(attempt);
        if (!suspects.includes(attempt.turnId)) return void (await queue.complete(attempt, null));
        if (attempt.isAlone !== true) return queue.giveBack(attempt, { isAlone: true });
        await isOver.promise;
      },
      { slots: 4 },
    );
  const submit = async (turnId: string = randomUUID()): Promise<string> => {
    const ids = { turnId, newConversationId: randomUUID(), conversationId: randomUUID() };
    const turn = { ...MESSAGE, ...ids };
    await servedTurns.submit(turn, null, (id, inside) => queue.submit(id, inside, turn));
    return turnId;
  };
  const kill = async (): Promise<void> => {
    isDead = true;
    await engineDatabase.executeSql(SILENT);
  };
  return { attempts, errors, work, submit, kill };
}

it('takes other turns while a second one waits to run alone', async () => {
  const store = await openTestStore();
  const suspects = [randomUUID(), randomUUID()];
  const first = await openProcess(store, suspects);
  const second = await openProcess(store, suspects);
  first.work();
  for (const suspect of suspects) await first.submit(suspect);
  await expect.poll(() => first.attempts.some(({ isAlone }) => isAlone)).toBe(true);
  second.work();
  const others = [await first.submit(), await first.submit(), await first.submit()];
  const taken = (): readonly string[] => second.attempts.map(({ turnId }) => turnId);
  await expect.poll(taken).toEqual(expect.arrayContaining(others));
  expect(second.attempts.filter(({ isAlone }) => isAlone)).toEqual([]);
  expect(second.errors).toEqual([]);
});

it('takes over a turn that ran alone in a process that died', { tags: ['long'] }, async () => {
  const store = await openTestStore();
  const suspect = randomUUID();
  const first = await openProcess(store, [suspect]);
  first.work();
  await first.submit(suspect);
  await expect.poll(() => first.attempts.length).toBe(2);
  // The engine counts once a second what is handed out, and the next process reads that when it starts.
  const counted = async (): Promise<unknown> => {
    const text = `select singletons_active from orion_queue.queue where name = 'turn.alone.v1'`;
    const answer = await store.engineDatabase?.executeSql(text);
    return (answer as { rows: unknown }).rows;
  };
  await expect.poll(counted, { timeout: 5_000 }).toEqual([{ singletons_active: [null] }]);
  const second = await openProcess(store, [suspect]);
  second.work();
  await first.kill();
  await expect.poll(() => second.attempts, { timeout: 10_000 }).toMatchObject([{ isAlone: true }]);
});
