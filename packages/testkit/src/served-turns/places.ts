import { randomUUID } from 'node:crypto';

import { expect, test } from 'vitest';
import { KEY } from './test-turns.ts';
import type { TestTurns } from './test-turns.ts';

/** A conversation has at most one turn that is not over. */
export function describePlaces({ withTurns, newTurn, submit, finish }: TestTurns): void {
  test('a conversation takes one turn at a time, and the next after its end (R263)', () =>
    withTurns(async (store, projectId) => {
      const conversationId = randomUUID();
      const first = newTurn(projectId, { conversationId });
      expect(await submit(store, first)).toMatchObject({ turn: { conversationId } });
      const busy = { kind: 'busy', conversationId, queued: [] };
      const second = newTurn(projectId, { conversationId });
      expect(await submit(store, second)).toEqual(busy);
      await store.turnLog.acquire(first.turnId, 1);
      expect(await submit(store, second)).toEqual(busy);
      await finish(store, first.turnId);
      expect(await submit(store, second)).toMatchObject({ kind: 'stored' });
      const others = await Promise.all(
        Array.from({ length: 8 }, () => submit(store, newTurn(projectId, { conversationId }))),
      );
      expect(others).toEqual(Array(8).fill(busy));
    }));

  test('without a name it is the latest conversation of the project, or a new one (R263)', () =>
    withTurns(async (store, projectId) => {
      const outcomes = await Promise.all(
        Array.from({ length: 12 }, () => submit(store, newTurn(projectId))),
      );
      // The first begins a conversation, which the others mean, too.
      expect(outcomes.filter(({ kind }) => kind === 'stored')).toHaveLength(1);
      expect(outcomes.filter(({ kind }) => kind === 'busy')).toHaveLength(11);
      const stored = outcomes.find((outcome) => outcome.kind === 'stored');
      await finish(store, stored?.turn.turnId ?? '');
      for (const [conversationId, of] of [
        ['a', projectId],
        ['b', projectId],
        ['c', 'another'],
      ] as const) {
        await store.conversations.save({
          conversationId: `${conversationId}-${projectId}`,
          projectId: of,
          history: [{ role: 'user', content: 'a' }],
          from: 0,
          openSessionId: null,
          revision: 0,
        });
      }
      expect(await submit(store, newTurn(projectId))).toMatchObject({
        turn: { conversationId: `b-${projectId}` },
      });
      // What runs is the latest, whatever is stored.
      expect(await submit(store, newTurn(projectId))).toMatchObject({ kind: 'busy' });
    }));

  test('the conversation of another project is not continued', () =>
    withTurns(async (store, projectId) => {
      const conversationId = randomUUID();
      const first = newTurn(projectId, { conversationId });
      await submit(store, first);
      const strange = newTurn(randomUUID(), { conversationId });
      expect(await submit(store, strange, KEY)).toEqual({ kind: 'foreign', queued: [] });
      await finish(store, first.turnId);
      await store.conversations.save({
        conversationId,
        projectId,
        history: [{ role: 'user', content: 'a' }],
        from: 0,
        openSessionId: null,
        revision: 0,
      });
      expect(await submit(store, strange, KEY)).toEqual({ kind: 'foreign', queued: [] });
    }));
}
