import type { TurnAttempt } from '@orion/contracts';
import { expect, test } from 'vitest';

import { end, settled, SLOTS, submit } from './queue-testing.ts';
import type { QueueTesting } from './queue-testing.ts';

/** How an attempt ends, and what becomes of those whose process does. */
export function testEnds({ withQueue, recorder }: QueueTesting): void {
  test('only the attempt that holds a turn completes it, and only if its transaction is committed', () =>
    withQueue(async (tested) => {
      const { queue, turns } = tested;
      const { handler, attempts, open } = recorder();
      const completed: boolean[] = [];
      queue.work(
        handler(async (attempt) => {
          const late = { ...attempt, attempt: attempt.attempt - 1 };
          completed.push(await queue.complete(late, null));
          await turns
            .cancel(attempt.turnId, { afterSeq: 0, events: [] }, async (_, transaction) => {
              completed.push(await queue.complete(attempt, transaction));
              throw new Error('undone');
            })
            .catch(() => undefined);
          if (attempt.attempt === 1) return;
          await end(tested, attempt);
          completed.push(await queue.complete(attempt, null));
        }),
        SLOTS,
      );
      const turnId = await submit(tested);
      open(turnId);
      await settled(async () => {
        await tested.pass();
        return completed;
      }).toEqual([false, true, false, true, true]);
      expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2]);
      expect(await queue.complete({ turnId, attempt: 2 }, null)).toBe(false);
    }));

  test('an attempt is completed with the end of its turn, or both are not', () =>
    withQueue(async (tested) => {
      const { queue, turns, log } = tested;
      const { handler, attempts, open } = recorder();
      const outcomes: string[] = [];
      queue.work(
        handler(async (attempt) => {
          const { turnId } = attempt;
          const { epoch } = await log.acquire(turnId, attempt.attempt);
          const finish = async (completing: TurnAttempt, isUndone: boolean) => {
            const events = [{ seq: 1, kind: 'done', data: {} }];
            const append = { turnId, epoch, expectSeq: 1, events };
            const { kind } = await log.finish(append, null, async (transaction) => {
              const isOwn = await queue.complete(completing, transaction);
              return isOwn && !isUndone;
            });
            outcomes.push(kind);
          };
          await finish({ ...attempt, attempt: attempt.attempt - 1 }, false);
          await finish(attempt, true);
          if (attempt.attempt === 1) return queue.giveBack(attempt);
          await finish(attempt, false);
          outcomes.push(String(await queue.complete(attempt, null)));
          return undefined;
        }),
        SLOTS,
      );
      const turnId = await submit(tested);
      open(turnId);
      await settled(async () => (await turns.find(turnId))?.state).toBe('done');
      await tested.pass();
      expect(outcomes).toEqual(['fenced', 'fenced', 'fenced', 'fenced', 'stored', 'true']);
      expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2]);
    }));

  test('a queue that drains hands out nothing and waits for what runs; the next one goes on with the rest', () =>
    withQueue(async (tested) => {
      const { queue, turns } = tested;
      const [first, second, third] = [
        await submit(tested),
        await submit(tested),
        await submit(tested),
      ];
      const { handler, ids, open } = recorder();
      queue.work(
        handler(async (attempt) => {
          if (attempt.turnId === second) return queue.giveBack(attempt);
          await end(tested, attempt);
          return queue.complete(attempt, null);
        }),
        SLOTS,
      );
      await settled(ids).toEqual([first, second]);
      let isDrained = false;
      const drained = queue.drain().then(() => (isDrained = true));
      open(first);
      await settled(async () => (await turns.find(first))?.state).toBe('done');
      const late = await submit(tested);
      expect(isDrained).toBe(false);
      open(second);
      await drained;
      await tested.pass();
      expect(ids()).toEqual([first, second]);

      const next = recorder();
      const other = await tested.next();
      for (const id of [second, third, late]) next.open(id);
      other.work(
        next.handler(async (attempt) => {
          await end(tested, attempt);
          await other.complete(attempt, null);
        }),
        { slots: 1 },
      );
      await settled(next.ids).toEqual([second, third, late]);
      await other.drain();
    }));

  test('what a process was running when it died is handed out by the next one, with a higher number', () =>
    withQueue(async (tested) => {
      const died = await submit(tested);
      const first = recorder();
      tested.queue.work(
        first.handler(() => Promise.resolve()),
        SLOTS,
      );
      await settled(() => first.attempts).toHaveLength(1);
      await tested.log.acquire(died, 1);
      await tested.kill();
      const other = await tested.next();
      const { handler, attempts, open } = recorder();
      const fresh = await submit({ queue: other, turns: tested.turns });
      for (const id of [died, fresh]) open(id);
      other.work(
        handler(async (attempt) => {
          await end(tested, attempt);
          await other.complete(attempt, null);
        }),
        { slots: 1 },
      );
      await settled(async () => {
        await tested.pass();
        return new Set(attempts);
      }).toEqual(
        new Set([
          { turnId: died, attempt: 2 },
          { turnId: fresh, attempt: 1 },
        ]),
      );
      await other.drain();
      first.open(died);
    }));
}
