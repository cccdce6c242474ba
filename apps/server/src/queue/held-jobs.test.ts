// @module-tag long
import { randomUUID } from 'node:crypto';

import { OrionError } from '@orion/contracts';
import type { TurnAttempt } from '@orion/contracts';
import { expect, it, onTestFinished } from 'vitest';

import { newTurn, openQueue, openTestStore } from '../testing/test-queue.ts';

/** Hazard: the engine takes a turn from an attempt that runs it, or keeps one that was given back. */

type Row = { readonly [column: string]: unknown };

/** A store that can be away for what the queue and its engine ask of it. */
async function openTest() {
  const store = await openTestStore();
  const { engineDatabase, servedTurns } = store;
  if (engineDatabase === null) throw new Error('no Postgres');
  let isAway = false;
  const away = new OrionError({ code: 'STORE_UNAVAILABLE', message: 'away', retryable: true });
  const executeSql: typeof engineDatabase.executeSql = (text, values) =>
    isAway ? Promise.reject(away) : engineDatabase.executeSql(text, values);
  const database = { ...engineDatabase, executeSql };
  const { queue, pass } = await openQueue({ servedTurns, engineDatabase: database });
  const over = Promise.withResolvers<void>();
  // A queue waits for what runs.
  onTestFinished(() => over.resolve());
  return {
    queue,
    pass,
    untilOver: over.promise,
    setAway: (is: boolean) => void (isAway = is),
    submit: async (turnId: string = randomUUID()): Promise<string> => {
      const turn = { ...newTurn(), turnId };
      await servedTurns.submit(turn, null, (id, inside) => queue.submit(id, inside, turn));
      return turnId;
    },
    rows: async (text: string, values?: readonly unknown[]): Promise<readonly Row[]> => {
      const answer = await engineDatabase.executeSql(text, values);
      return (answer as { readonly rows: readonly Row[] }).rows;
    },
  };
}

it.each([
  ['beside others', false],
  ['alone', true],
])('confirms an attempt %s so often that the engine does not give it up', async (_, isAlone) => {
  const { queue, pass, submit, rows, untilOver } = await openTest();
  const held = Promise.withResolvers<AbortSignal>();
  queue.work(
    async (attempt, lost) => {
      if (isAlone && attempt.isAlone !== true) return queue.giveBack(attempt, { isAlone });
      held.resolve(lost);
      await untilOver;
    },
    { slots: 1 },
  );
  await submit();
  const lost = await held.promise;
  const confirmedAt = () => rows('select state, heartbeat_on::text from orion_queue.job');
  const first = await confirmedAt();
  // A silence of 10 s counts as the end of its process.
  await pass(3_000);
  await expect.poll(confirmedAt).not.toEqual(first);
  await pass(3_000);
  await pass(3_000);
  expect(lost.aborted).toBe(false);
});

it('leaves an attempt that takes longer than a quarter of an hour to the process that confirms it', async () => {
  const { queue, pass, submit, rows, untilOver } = await openTest();
  const signals = new Map<string, AbortSignal>();
  queue.work(
    async ({ turnId }, lost) => {
      signals.set(turnId, lost);
      await untilOver;
    },
    { slots: 2 },
  );
  const long = await submit();
  const silent = await submit();
  await expect.poll(() => signals.size).toBe(2);
  await rows(
    `update orion_queue.job set started_on = now() - interval '16 minutes',
       heartbeat_on = heartbeat_on + case id when $1 then interval '-11 seconds' else interval '1 minute' end`,
    [silent],
  );
  const stateOf = async (id: string) =>
    (await rows('select state from orion_queue.job where id = $1', [id]))[0]?.['state'];
  // The engine has looked once it has given the other one up.
  await expect.poll(() => stateOf(silent)).not.toBe('active');
  expect(await stateOf(long)).toBe('active');
  await pass(3_000);
  await expect.poll(() => signals.get(silent)?.aborted).toBe(true);
  expect(signals.get(long)?.aborted).toBe(false);
});

it('hands a turn out again that was given back after a store that was away', async () => {
  const { queue, pass, submit, setAway } = await openTest();
  const attempts: TurnAttempt[] = [];
  const goOn = Promise.withResolvers<void>();
  queue.work(
    async (attempt) => {
      attempts.push(attempt);
      if (attempt.turnId === early) await goOn.promise;
      if (attempt.attempt === 1) await queue.giveBack(attempt);
      else await queue.complete(attempt, null);
    },
    { slots: 2 },
  );
  const early = randomUUID();
  await submit(early);
  await expect.poll(() => attempts).toHaveLength(1);
  setAway(true);
  goOn.resolve();
  await pass();
  setAway(false);
  const late = await submit();
  const handed = async () => {
    await pass();
    return attempts.filter(({ turnId }) => turnId === late).map(({ attempt }) => attempt);
  };
  // Sooner than the engine would notice its silence.
  await expect.poll(handed, { timeout: 5_000 }).toEqual([1, 2]);
});

it.each([
  ['leaves to another process what that confirms, also where it seems to be alone', true],
  ['takes what a process has left behind that died, before the engine gives it up', false],
])('%s', async (_, isAlive) => {
  const store = await openTestStore();
  const { servedTurns } = store;
  const first = await openQueue(store);
  const over = Promise.withResolvers<void>();
  onTestFinished(() => over.resolve());
  const held = Promise.withResolvers<AbortSignal>();
  first.queue.work(
    async (attempt, lost) => {
      held.resolve(lost);
      await over.promise;
      await first.queue.complete(attempt, null);
    },
    { slots: 1 },
  );
  const turn = newTurn();
  await servedTurns.submit(turn, null, (id, inside) => first.queue.submit(id, inside, turn));
  const lost = await held.promise;
  const taken: number[] = [];
  const next = await openQueue(store, { isOnly: true });
  next.queue.work(
    async (attempt) => {
      taken.push(attempt.attempt);
      await next.queue.complete(attempt, null);
    },
    { slots: 1 },
  );
  await next.pass(500);
  if (isAlive) await first.pass(3_000);
  await next.pass(4_000);
  if (!isAlive) {
    await expect
      .poll(async () => {
        await next.pass(500);
        return taken;
      })
      .toEqual([2]);
    return;
  }
  for (let looks = 0; looks < 4; looks += 1) await next.pass(500);
  await first.pass(3_000);
  expect([taken, lost.aborted]).toEqual([[], false]);
});
