import { randomUUID } from 'node:crypto';

import { describe, expect, test } from 'vitest';
import { events } from '../turn-log-events.ts';
import type { OpenedTurns, TestTurns } from './test-turns.ts';

const withdrawNothing = (): Promise<void> => Promise.resolve();

/** A turn that waits is ended by whoever cancels it; one that has an owner by its owner. */
export function describeOwners({ withTurns, newTurn, submit, finish }: TestTurns): void {
  describe('owners', () => {
    const submitted = async (store: OpenedTurns, projectId: string): Promise<string> => {
      const turn = newTurn(projectId, { conversationId: randomUUID() });
      await submit(store, turn);
      return turn.turnId;
    };

    test('what a process left behind waits again, in the order of its submission', () =>
      withTurns(async (store, projectId) => {
        const { servedTurns, turnLog } = store;
        const [one, two, over, three] = [
          await submitted(store, projectId),
          await submitted(store, projectId),
          await submitted(store, projectId),
          await submitted(store, projectId),
        ];
        await turnLog.acquire(two, 4);
        await finish(store, over);
        const own = new Set([one, two, over, three]);
        const waiting = async () =>
          (await servedTurns.waiting()).filter(({ turnId }) => own.has(turnId));
        const place = { projectId, priority: 'interactive' };
        const first = { turnId: one, attempt: 0, ...place };
        const last = { turnId: three, attempt: 0, ...place };
        expect(await waiting()).toEqual([first, last]);
        await servedTurns.reclaim();
        expect(await waiting()).toEqual([first, { turnId: two, attempt: 4, ...place }, last]);
      }));

    test('turns that are not over are found whether they wait or not, unless something was stored of them lately', () =>
      withTurns(async (store, projectId) => {
        const { servedTurns, turnLog } = store;
        const one = await submitted(store, projectId);
        const two = await submitted(store, projectId);
        const over = await submitted(store, projectId);
        await turnLog.acquire(two, 4);
        await finish(store, over);
        const found = async (idleMs: number) =>
          (await servedTurns.unfinished({ idleMs })).filter((turn) => turn.projectId === projectId);
        expect(await found(0)).toEqual([
          { turnId: one, attempt: 0, projectId, priority: 'interactive' },
          { turnId: two, attempt: 4, projectId, priority: 'interactive' },
        ]);
        expect(await found(60_000)).toEqual([]);
        const { queued, oldestQueuedMs } = await servedTurns.count({ projectId });
        expect([queued, oldestQueuedMs >= 0 && oldestQueuedMs < 60_000]).toEqual([1, true]);
      }));

    test('a turn that was given back waits, and the attempt does not count; a former owner gives nothing back', () =>
      withTurns(async (store, projectId) => {
        const turnId = await submitted(store, projectId);
        const first = await store.turnLog.acquire(turnId, 1);
        const second = await store.turnLog.acquire(turnId, 2);
        expect(second.idleAttempts).toBe(2);
        await store.servedTurns.release(first);
        expect(await store.servedTurns.find(turnId)).toMatchObject({ state: 'running' });
        await store.servedTurns.release(second);
        await store.servedTurns.release(second);
        expect(await store.servedTurns.find(turnId)).toMatchObject({ state: 'queued' });
        expect((await store.turnLog.acquire(turnId, 3)).idleAttempts).toBe(2);
      }));

    test('cancelled turns are overdue that wait, and those that have had an owner for too long', () =>
      withTurns(async (store, projectId) => {
        const { servedTurns, turnLog } = store;
        const ids = [];
        for (let index = 0; index < 4; index += 1) ids.push(await submitted(store, projectId));
        const [waits, owned, over] = ids as [string, string, string, string];
        await turnLog.acquire(owned, 1);
        for (const turnId of [waits, owned, over]) await turnLog.requestCancel(turnId);
        await finish(store, over);
        const overdue = async (ownedMs: number) =>
          (await servedTurns.overdue(ownedMs)).filter((turn) => turn.projectId === projectId);
        expect((await overdue(60_000)).map(({ turnId }) => turnId)).toEqual([waits]);
        expect(await overdue(0)).toEqual([
          await servedTurns.find(waits),
          await servedTurns.find(owned),
        ]);
      }));

    test('an owner sees in its row whether it still has the turn, and whether the turn is to end', () =>
      withTurns(async (store, projectId) => {
        const ids = [];
        for (let index = 0; index < 4; index += 1) ids.push(await submitted(store, projectId));
        const owners = [];
        for (const turnId of ids) owners.push(await store.turnLog.acquire(turnId, 1));
        const [owned, cancelled, taken, over] = ids as [string, string, string, string];
        expect(await store.servedTurns.look(owners)).toEqual(Array(4).fill('owned'));
        const end = { afterSeq: 0, events: [] };
        const asked = await store.servedTurns.cancel(cancelled, end, withdrawNothing);
        expect(asked).toBe('requested');
        await store.turnLog.acquire(taken, 2);
        await finish(store, over);
        expect(await store.servedTurns.look(owners)).toEqual([
          'owned',
          'cancelled',
          'lost',
          'lost',
        ]);
        expect(await store.servedTurns.look([])).toEqual([]);
        const nobody = { turnId: randomUUID(), epoch: 1 };
        expect(await store.servedTurns.look([nobody])).toEqual(['lost']);
        expect(await store.servedTurns.find(owned)).toMatchObject({ cancelRequested: false });
      }));

    test('a turn that waits is ended by its canceller, with one done, and taken out of the queue (C3)', () =>
      withTurns(async (store, projectId) => {
        const { servedTurns, turnLog } = store;
        const turnId = await submitted(store, projectId);
        const end = {
          afterSeq: 0,
          events: [{ seq: 1, kind: 'done', data: { status: 'stopped' } }],
        };
        const withdrawn: string[] = [];
        const cancel = () =>
          servedTurns.cancel(turnId, end, async (id, transaction) => {
            transaction.onEnd((outcome) => withdrawn.push(`${id} ${outcome}`));
          });
        // By a clock that stands still: no sweep finds the end for its reader.
        const read = turnLog
          .tail(turnId, 0, new AbortController().signal)
          [Symbol.asyncIterator]()
          .next();
        await turnLog.read(turnId, 0);
        const outcomes = await Promise.all([cancel(), cancel(), cancel()]);
        expect((await read).value).toMatchObject({ seq: 1, kind: 'done' });
        expect(outcomes.toSorted()).toEqual(['ended', 'finished', 'finished']);
        expect(withdrawn).toEqual([`${turnId} committed`]);
        expect(await servedTurns.find(turnId)).toMatchObject({
          state: 'done',
          status: 'stopped',
          lastSeq: 1,
          cancelRequested: true,
        });
        expect(await turnLog.read(turnId, 0)).toHaveLength(1);
        await expect(turnLog.acquire(turnId, 1)).rejects.toMatchObject({ code: 'TURN_FINISHED' });
        expect(await servedTurns.cancel(randomUUID(), end, withdrawNothing)).toBe('unknown');
      }));

    test('one that was given back ends behind its events; one that moved meanwhile is left alone', () =>
      withTurns(async (store, projectId) => {
        const { servedTurns, turnLog } = store;
        const turnId = await submitted(store, projectId);
        const owner = await turnLog.acquire(turnId, 1);
        await turnLog.append(turnId, owner.epoch, 1, events(1, 2));
        await servedTurns.release(owner);
        const endAfter = (afterSeq: number) => ({
          afterSeq,
          events: [{ seq: afterSeq + 1, kind: 'done', data: { status: 'stopped' } }],
        });
        expect(await servedTurns.cancel(turnId, endAfter(0), withdrawNothing)).toBe('moved');
        expect(await servedTurns.find(turnId)).toMatchObject({ state: 'queued', lastSeq: 2 });
        expect(await servedTurns.cancel(turnId, endAfter(2), withdrawNothing)).toBe('ended');
        const seqs: number[] = [];
        for await (const { seq } of turnLog.tail(turnId, 0, new AbortController().signal)) {
          seqs.push(seq);
        }
        expect(seqs).toEqual([1, 2, 3]);
      }));
  });
}
