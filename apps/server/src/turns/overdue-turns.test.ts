import { randomUUID } from 'node:crypto';

import { openStore } from '@orion/agent';
import { systemClock } from '@orion/contracts';
import type { RunEvent, ServedTurn } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { expect, it, onTestFinished } from 'vitest';

import { makeDatabase } from '../testing/test-database.ts';
import { doneOf, MESSAGE } from '../testing/test-turns.ts';
import { OverdueTurns } from './overdue-turns.ts';

/** Hazard: a turn is cancelled whose owner is gone while no process has room for it, and never ends. */

async function openOverdue({ isAway = false } = {}) {
  const location = { kind: 'postgres', url: await makeDatabase() } as const;
  const store = openStore(location, { clock: systemClock });
  const clock = createFakeClock();
  const seen: RunEvent[] = [];
  const errors: unknown[] = [];
  const withdrawn: string[] = [];
  const away = { isAway };
  const refused = { turnId: '' };
  /** What the first look finds, whatever has become of it. */
  const found: (readonly ServedTurn[])[] = [];
  const overdue = new OverdueTurns({
    turns: {
      overdue: async (ownedMs) => {
        if (away.isAway) throw new Error('away');
        return found.shift() ?? store.servedTurns.overdue(ownedMs);
      },
    },
    log: {
      ...store.turnLog,
      acquire: (turnId, attempt) =>
        turnId === refused.turnId
          ? Promise.reject(new Error('refused'))
          : store.turnLog.acquire(turnId, attempt),
    },
    queue: { withdraw: async (turnId) => void withdrawn.push(turnId) },
    clock,
    onEvent: (event) => void seen.push(event),
    onError: (error) => void errors.push(error),
  });
  onTestFinished(async () => {
    await overdue.stop();
    await store.close();
  });
  return {
    store,
    clock,
    overdue,
    seen,
    errors,
    withdrawn,
    away,
    refused,
    found,
    submit: async (): Promise<string> => {
      const ids = { turnId: randomUUID(), newConversationId: randomUUID() };
      const turn = { ...MESSAGE, ...ids, conversationId: randomUUID() };
      await store.servedTurns.submit(turn, null, () => Promise.resolve());
      return turn.turnId;
    },
    ended: async (turnId: string) => {
      const state = async () => (await store.servedTurns.find(turnId))?.state;
      await expect.poll(state).toBe('done');
      return doneOf(await store.turnLog.read(turnId, 0));
    },
    /** By the clock of the store. */
    age: (seconds: number) =>
      store.engineDatabase?.executeSql(
        `update turn set active_at = active_at - ${seconds * 1_000},
           cancel_requested_at = cancel_requested_at - ${seconds * 1_000}`,
      ),
  };
}

it('ends a turn that nobody owns and nobody has room for, with what it has said', async () => {
  const { store, overdue, submit, ended, withdrawn, seen } = await openOverdue();
  const turnId = await submit();
  const { epoch } = await store.turnLog.acquire(turnId, 1);
  const chunk = { content: 'half', source: 'model' };
  await store.turnLog.append(turnId, epoch, 1, [{ seq: 1, kind: 'chunk', data: chunk }]);
  await store.turnLog.requestCancel(turnId);
  await store.servedTurns.release({ turnId, epoch });
  overdue.start();
  expect(await ended(turnId)).toMatchObject({ stopReason: 'cancelled', fullContent: 'half' });
  expect(withdrawn).toEqual([turnId]);
  expect(seen.map(({ type }) => type)).toEqual(['done']);
});

it('leaves a turn to its owner until one that is alive would have ended it', async () => {
  const test = await openOverdue();
  const { store, clock, overdue, submit, ended, age, withdrawn } = test;
  const [owned, other, taken] = [await submit(), await submit(), await submit()];
  for (const turnId of [owned, other]) await store.turnLog.acquire(turnId, 1);
  for (const turnId of [owned, taken]) await store.turnLog.requestCancel(turnId);
  await age(14);
  await store.turnLog.acquire(taken, 1);
  overdue.start();
  /** One that waits shows that a look is over. */
  const look = async (milliseconds: number): Promise<void> => {
    const waiting = await submit();
    await store.turnLog.requestCancel(waiting);
    await clock.advance(milliseconds);
    await ended(waiting);
  };
  await look(15_000);
  expect(await store.servedTurns.find(owned)).toMatchObject({ state: 'running' });
  await age(1);
  await clock.advance(1_000);
  expect(await ended(owned)).toMatchObject({ stopReason: 'cancelled' });
  await look(1_000);
  // Nobody has cancelled the one, and the other has had its owner for a second.
  for (const turnId of [other, taken])
    expect(await store.servedTurns.find(turnId)).toMatchObject({ state: 'running' });
  expect(withdrawn).toContain(owned);
});

it('gives owners time anew after the store was away, when they could not learn of it', async () => {
  const { store, clock, overdue, submit, ended, age, away, errors } = await openOverdue();
  const owned = await submit();
  await store.turnLog.acquire(owned, 1);
  await store.turnLog.requestCancel(owned);
  await age(60);
  overdue.start();
  /** Until a look has found that one which waits is to end. */
  const look = async (milliseconds: number): Promise<void> => {
    const waiting = await submit();
    await store.turnLog.requestCancel(waiting);
    const state = async (): Promise<unknown> => {
      await clock.advance(milliseconds);
      return (await store.servedTurns.find(waiting))?.state;
    };
    await expect.poll(state).toBe('done');
  };
  await look(1_000);
  away.isAway = true;
  await expect.poll(() => clock.advance(1_000).then(() => errors.length)).toBeGreaterThan(0);
  await clock.advance(60_000);
  away.isAway = false;
  await look(100);
  expect(await store.servedTurns.find(owned)).toMatchObject({ state: 'running' });
  await clock.advance(15_000);
  await look(1_000);
  await ended(owned);
});

it('ends the others if one cannot be ended', async () => {
  const { store, overdue, submit, ended, refused, errors } = await openOverdue();
  const [first, second] = [await submit(), await submit()];
  refused.turnId = first;
  for (const turnId of [first, second]) await store.turnLog.requestCancel(turnId);
  overdue.start();
  await ended(second);
  expect(errors).toHaveLength(1);
});

it('has not failed where a turn ends by itself at that moment', async () => {
  const test = await openOverdue();
  const { store, clock, overdue, submit, ended, errors, withdrawn } = test;
  const [over, other] = [await submit(), await submit()];
  for (const turnId of [over, other]) await store.turnLog.requestCancel(turnId);
  test.found.push(await store.servedTurns.overdue(0));
  expect(test.found[0]).toHaveLength(2);
  const { epoch } = await store.turnLog.acquire(over, 1);
  const done = { seq: 1, kind: 'done', data: { status: 'stopped' } };
  await store.turnLog.append(over, epoch, 1, [done]);
  overdue.start();
  await ended(other);
  await clock.advance(1_000);
  expect([errors, withdrawn]).toEqual([[], [other]]);
});

it('looks again once a store that was away is back', async () => {
  const test = await openOverdue({ isAway: true });
  const turnId = await test.submit();
  await test.store.turnLog.requestCancel(turnId);
  test.overdue.start();
  await expect.poll(() => test.errors).toHaveLength(1);
  test.away.isAway = false;
  await test.clock.advance(1_000);
  await test.ended(turnId);
});
