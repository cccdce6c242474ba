import { randomUUID } from 'node:crypto';

import type { Clock, ServedTurns } from '@orion/contracts';
import { describe, expect, test } from 'vitest';
import { events } from './turn-log-events.ts';
import { describeAllowances } from './served-turns/allowances.ts';
import { describeOwners } from './served-turns/owners.ts';
import { describePlaces } from './served-turns/places.ts';
import { describeRepeats } from './served-turns/repeats.ts';
import { testTurns } from './served-turns/test-turns.ts';
import type { OpenedTurns } from './served-turns/test-turns.ts';

const withdrawNothing = (): Promise<void> => Promise.resolve();

/**
 * The turns that clients submit.
 *
 * 1. A turn, its key and its place in its conversation are stored together or not at all, and queued with that.
 * 2. A repeat stores nothing, whether its first answer was lost or it has a key.
 * 3. A conversation has at most one turn that is not over.
 * 4. A turn that waits is ended by whoever cancels it; one that has an owner by its owner.
 * 5. Turns of commands are not served.
 * 6. A project has no more turns that wait, and begins none after more tokens of a day, than its submission allows.
 */
export function describeServedTurnsContract(
  name: string,
  factory: (options: {
    readonly clock: Clock;
  }) => Promise<OpenedTurns & { close(): Promise<void> }>,
): void {
  describe(`served turns contract: ${name}`, () => {
    const turns = testTurns(factory);
    const { withTurns, newTurn, submit, finish } = turns;

    test('a turn that was submitted is found, listed and run as it was said (R282)', () =>
      withTurns(async (store, projectId) => {
        const turn = newTurn(projectId, { protocol: 'two-stage', mode: 'plan' });
        const { turnId, newConversationId: conversationId } = turn;
        const outcome = await submit(store, turn);
        expect(outcome.queued).toEqual([`${turnId} committed`]);
        const found = await store.servedTurns.find(turnId);
        expect(outcome).toMatchObject({ kind: 'stored', turn: found });
        expect(found).toEqual({
          turnId,
          projectId,
          conversationId,
          mode: 'plan',
          protocol: 'two-stage',
          state: 'queued',
          status: null,
          lastSeq: 0,
          cancelRequested: false,
          createdAt: found?.createdAt,
          finishedAt: null,
        });
        expect(await store.servedTurns.list({ projectId, limit: 9 })).toEqual([found]);
        const { newConversationId: _, ...said } = turn;
        expect(await store.servedTurns.toRun(turnId)).toEqual({ ...said, conversationId });
        expect(await store.servedTurns.find(randomUUID())).toBeNull();
      }));

    test('a turn goes from waiting to its owner to its end', () =>
      withTurns(async (store, projectId) => {
        const { turnId } = newTurn(projectId);
        const count = async () => {
          const { queued, running } = await store.servedTurns.count({ projectId });
          return [queued, running];
        };
        expect(await count()).toEqual([0, 0]);
        await submit(store, newTurn(projectId, { turnId }));
        expect(await count()).toEqual([1, 0]);
        const { epoch } = await store.turnLog.acquire(turnId, 1);
        expect(await count()).toEqual([0, 1]);
        expect(await store.servedTurns.find(turnId)).toMatchObject({ state: 'running' });
        await store.turnLog.append(turnId, epoch, 1, events(1, 2));
        expect(await store.servedTurns.find(turnId)).toMatchObject({ lastSeq: 2, status: null });
        await finish(store, turnId, 'paused');
        expect(await count()).toEqual([0, 0]);
        expect(await store.servedTurns.count({})).toEqual({
          queued: expect.any(Number),
          running: expect.any(Number),
          oldestQueuedMs: expect.any(Number),
        });
        const over = await store.servedTurns.find(turnId);
        expect(over).toMatchObject({ state: 'done', status: 'paused', lastSeq: 3 });
        expect(over?.finishedAt).toBeGreaterThanOrEqual(over?.createdAt ?? Infinity);
        expect(await store.servedTurns.toRun(turnId)).toBeNull();
      }));

    test('lists are newest first, by state and from a cursor on', () =>
      withTurns(async (store, projectId) => {
        const ids: string[] = [];
        for (let index = 0; index < 5; index += 1) {
          const turn = newTurn(projectId, { conversationId: randomUUID() });
          ids.unshift(turn.turnId);
          await submit(store, turn);
        }
        const [five, four, three, two, one] = ids as [string, string, string, string, string];
        await finish(store, two);
        await store.turnLog.acquire(four, 1);
        const list = async (
          filter: Partial<Parameters<ServedTurns['list']>[0]>,
        ): Promise<readonly string[]> => {
          const found = await store.servedTurns.list({ projectId, limit: 9, ...filter });
          return found.map(({ turnId }) => turnId);
        };
        expect(await list({})).toEqual(ids);
        expect(await list({ state: 'queued' })).toEqual([five, three, one]);
        expect(await list({ state: 'running' })).toEqual([four]);
        expect(await list({ state: 'done' })).toEqual([two]);
        expect(await list({ limit: 2 })).toEqual([five, four]);
        expect(await list({ limit: 2, before: four })).toEqual([three, two]);
        expect(await list({ before: four, state: 'queued' })).toEqual([three, one]);
        expect(await list({ before: one })).toEqual([]);
        expect(await list({ before: randomUUID() })).toEqual([]);
        const all = await store.servedTurns.list({ limit: 3 });
        expect(all.map(({ turnId }) => turnId)).toEqual([five, four, three]);
      }));

    test('a turn of a command is not served: not found, listed, queued or cancelled here', () =>
      withTurns(async ({ servedTurns, turnLog }) => {
        const turnId = randomUUID();
        const { epoch } = await turnLog.acquire(turnId, 1);
        await turnLog.append(turnId, epoch, 1, events(1, 1));
        expect(await servedTurns.find(turnId)).toBeNull();
        expect(await servedTurns.toRun(turnId)).toBeNull();
        expect(await servedTurns.list({ limit: 100, before: turnId })).not.toContainEqual(
          expect.objectContaining({ turnId }),
        );
        await servedTurns.release({ turnId, epoch });
        await servedTurns.reclaim();
        const waiting = await servedTurns.waiting();
        expect(waiting.map((each) => each.turnId)).not.toContain(turnId);
        const end = { afterSeq: 1, events: [{ seq: 2, kind: 'done', data: {} }] };
        expect(await servedTurns.cancel(turnId, end, withdrawNothing)).toBe('unknown');
        expect(await turnLog.append(turnId, epoch, 2, events(2, 1))).toBe(2);
      }));

    describeRepeats(turns);
    describePlaces(turns);
    describeOwners(turns);
    describeAllowances(turns);
  });
}
