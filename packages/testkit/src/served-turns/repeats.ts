import { randomUUID } from 'node:crypto';

import { expect, test } from 'vitest';
import { KEY } from './test-turns.ts';
import type { Submitted, TestTurns } from './test-turns.ts';

/** A repeat stores nothing, whether its first answer was lost or it has a key. */
export function describeRepeats({ withTurns, newTurn, submit, finish }: TestTurns): void {
  test.each([
    ['at once', true],
    ['one after the other', false],
  ])('a key makes one turn of twenty requests, %s (R287)', (_, isAtOnce) =>
    withTurns(async (store, projectId) => {
      const outcomes: Submitted[] = [];
      const one = async (): Promise<void> =>
        void outcomes.push(await submit(store, newTurn(projectId), KEY));
      if (isAtOnce) await Promise.all(Array.from({ length: 20 }, one));
      else for (let index = 0; index < 20; index += 1) await one();
      const [made] = await store.servedTurns.list({ projectId, limit: 20 });
      expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(
        [...Array<string>(19).fill('repeated'), 'stored'].toSorted(),
      );
      for (const outcome of outcomes) expect(outcome).toMatchObject({ turn: made });
      expect(outcomes.flatMap(({ queued }) => queued)).toEqual([`${made?.turnId} committed`]);
      expect(await store.servedTurns.list({ projectId, limit: 20 })).toHaveLength(1);
    }),
  );

  test('a key answers with its turn after the end, too; it is of one project, one route and one body (R287)', () =>
    withTurns(async (store, projectId) => {
      const first = newTurn(projectId);
      await submit(store, first, KEY);
      await finish(store, first.turnId);
      const other = { conversationId: randomUUID() };
      expect(await submit(store, newTurn(projectId, other), KEY)).toMatchObject({
        kind: 'repeated',
        turn: { turnId: first.turnId, state: 'done' },
        queued: [],
      });
      for (const key of [
        { ...KEY, route: '/api/chat/messages_two_stage' },
        { ...KEY, bodySha256: 'bb' },
      ]) {
        expect(await submit(store, newTurn(projectId, other), key)).toEqual({
          kind: 'mismatch',
          queued: [],
        });
      }
      expect(await submit(store, newTurn(randomUUID()), KEY)).toMatchObject({ kind: 'stored' });
    }));

  test('a request that was refused leaves its key free', () =>
    withTurns(async (store, projectId) => {
      const { turnId } = newTurn(projectId);
      await submit(store, newTurn(projectId, { turnId }));
      expect(await submit(store, newTurn(projectId), KEY)).toMatchObject({ kind: 'busy' });
      await finish(store, turnId);
      expect(await submit(store, newTurn(projectId), KEY)).toMatchObject({ kind: 'stored' });
    }));

  test('the same submission again is the same turn after its end, too, whatever its conversation does now', () =>
    withTurns(async (store, projectId) => {
      const first = newTurn(projectId);
      await submit(store, first);
      await finish(store, first.turnId);
      await submit(store, newTurn(projectId));
      expect(await submit(store, first)).toMatchObject({
        kind: 'stored',
        turn: { turnId: first.turnId, state: 'done' },
        queued: [],
      });
    }));

  test('the same submission again is the same turn: its first answer was lost', () =>
    withTurns(async (store, projectId) => {
      for (const key of [null, KEY]) {
        const turn = newTurn(projectId, { conversationId: randomUUID() });
        const [first, ...again] = [
          await submit(store, turn, key),
          await submit(store, turn, key),
          await submit(store, turn, key),
        ];
        expect(first?.queued).toHaveLength(1);
        for (const outcome of again) expect(outcome).toEqual({ ...first, queued: [] });
      }
      expect(await store.servedTurns.list({ projectId, limit: 9 })).toHaveLength(2);
    }));

  test('a turn that cannot be queued is not stored, nor is its key', () =>
    withTurns(async (store, projectId) => {
      const turn = newTurn(projectId);
      let end = '';
      const failing = submit(store, turn, KEY, (transaction) => {
        transaction.onEnd((outcome) => (end = outcome));
        throw new Error('no queue');
      });
      await expect(failing).rejects.toThrow('no queue');
      expect(end).toBe('undone');
      expect(await store.servedTurns.find(turn.turnId)).toBeNull();
      expect(await submit(store, newTurn(projectId), KEY)).toMatchObject({ kind: 'stored' });
    }));

  test('a queue writes with the turn, in the same transaction', () =>
    withTurns(async (store, projectId) => {
      const turn = newTurn(projectId);
      await submit(store, turn, null, async (transaction) => {
        const rows = await transaction.all(
          'update turn set attempt = 7 where turn_id = $1 returning attempt',
          [turn.turnId],
        );
        expect(rows).toEqual([{ attempt: 7 }]);
      });
      const waiting = await store.servedTurns.waiting();
      expect(waiting).toContainEqual(expect.objectContaining({ turnId: turn.turnId, attempt: 7 }));
    }));

  test('a key of something else than a turn is taken once, and is none of a turn (R287)', () =>
    withTurns(async (store, projectId) => {
      const { requestKeys } = store;
      const key = { key: 'begin', route: '/api/write-sessions', bodySha256: 'aa' };
      const outcomes = await Promise.all(
        ['a', 'b', 'c'].map((made) => requestKeys.claim(projectId, key, made)),
      );
      const repeats = outcomes.filter(({ kind }) => kind === 'repeated');
      expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['new', 'repeated', 'repeated']);
      const winner = ['a', 'b', 'c'][outcomes.findIndex(({ kind }) => kind === 'new')];
      for (const repeat of repeats) expect(repeat).toEqual({ kind: 'repeated', made: winner });
      expect(await requestKeys.claim(projectId, key, winner ?? '')).toEqual({ kind: 'new' });
      const mismatch = { kind: 'mismatch', route: key.route, made: winner };
      const another = { ...key, bodySha256: 'bb' };
      expect(await requestKeys.claim(projectId, another, 'd')).toEqual(mismatch);
      expect(await submit(store, newTurn(projectId), key)).toMatchObject({ kind: 'mismatch' });
      expect(await requestKeys.claim(randomUUID(), key, 'e')).toEqual({ kind: 'new' });
      expect(await requestKeys.claim(projectId, another, 'd', 'of another')).toEqual(mismatch);
      expect(await requestKeys.claim(projectId, another, 'd', winner)).toEqual({ kind: 'new' });
      const repeated = { kind: 'repeated', made: 'd' };
      expect(await requestKeys.claim(projectId, another, 'f', winner)).toEqual(repeated);
    }));
}
