import { randomUUID } from 'node:crypto';
import { systemClock } from '@orion/contracts';
import type { NewTurn, TransactionOutcome } from '@orion/contracts';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../open-store.ts';
import { startFaultyProxy } from '../testing/faulty-proxy.ts';
import { useTestDatabase } from '../testing/test-database.ts';

/** Hazard: a commit whose answer is lost is taken for a failure, and the turn is made twice or never run. */

const own = useTestDatabase();
const ROUNDS = 20;

test.each(['lose-answer', 'cut-at-once'] as const)(
  'a submission whose commit is ambiguous (%s) makes one turn, and its queue is told that it cannot know',
  async (fault) => {
    const proxy = await startFaultyProxy(own.url());
    onTestFinished(() => proxy.close());
    const store = openStore({ kind: 'postgres', url: proxy.url }, { clock: systemClock });
    onTestFinished(() => store.close());
    const projectId = randomUUID();
    for (let round = 0; round < ROUNDS; round += 1) {
      const turn: NewTurn = {
        turnId: randomUUID(),
        newConversationId: randomUUID(),
        projectId,
        content: 'text',
        mode: 'act',
        conversationId: randomUUID(),
        protocol: null,
        metadata: {},
      };
      const key = { key: `k${round}`, route: '/r', bodySha256: 'aa' };
      const ends: TransactionOutcome[] = [];
      const submit = () =>
        store.servedTurns.submit(turn, key, async (_, transaction) => {
          transaction.onEnd((outcome) => ends.push(outcome));
        });
      // The transaction has to be open before its commit can be waited for.
      await store.servedTurns.find('none');
      proxy.arm(fault, 'commit');
      await expect(submit()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
      expect(await submit()).toMatchObject({ kind: 'stored', turn: { turnId: turn.turnId } });
      expect(ends[0]).toBe('unknown');
      // Either the first was stored and the second found it, or the second stored it.
      expect([['unknown'], ['unknown', 'committed']]).toContainEqual(ends);
    }
    expect(proxy.faults).toBe(ROUNDS);
    expect(await store.servedTurns.list({ projectId, limit: 100 })).toHaveLength(ROUNDS);
    expect(await store.servedTurns.waiting()).toHaveLength(ROUNDS);
    for (const { turnId } of await store.servedTurns.waiting()) {
      const { epoch } = await store.turnLog.acquire(turnId, 1);
      await store.turnLog.append(turnId, epoch, 1, [{ seq: 1, kind: 'done', data: {} }]);
    }
  },
);
