import type { TurnAttempt } from '@orion/contracts';
import { expect, test } from 'vitest';

import { complete, end, handedLater, settled, SLOTS, submit } from './queue-testing.ts';
import type { QueueTesting, QueueUnderTest } from './queue-testing.ts';

/** A turn that is to run alone, and turns that rest. */
export function testRunningAlone({ withQueue, recorder }: QueueTesting): void {
  test('a turn that is to run alone waits for those that run, and those behind it wait for it', () =>
    withQueue(async (tested) => {
      const { queue } = tested;
      const { handler, attempts, ids, open } = recorder();
      queue.work(
        handler((attempt) => isolate(tested, attempt, suspect)),
        SLOTS,
      );
      const beside = await submit(tested);
      const suspect = await submit(tested);
      await settled(ids).toEqual([beside, suspect]);
      open(suspect);
      await tested.pass();
      const behind = await submit(tested);
      await tested.pass();
      expect(ids()).toEqual([beside, suspect]);
      open(beside);
      open(behind);
      await settled(ids).toEqual([beside, suspect, suspect, behind]);
      expect(attempts[2]).toEqual({ turnId: suspect, attempt: 2, isAlone: true });
    }));

  test('a turn that rests keeps nobody waiting, and once it goes on runs alone again if it did', () =>
    withQueue(async (tested) => {
      const { queue } = tested;
      const { handler, ids, open } = recorder();
      const isAnswered = Promise.withResolvers<void>();
      const resting = new Set<string>();
      queue.work(
        handler(async (attempt) => {
          const { turnId, isAlone = false } = attempt;
          if (turnId === asking && !isAlone) return queue.giveBack(attempt, { isAlone: true });
          if (turnId === asking) await isAnswered.promise;
          await end(tested, attempt);
          return queue.complete(attempt, null);
        }),
        { ...SLOTS, resting: () => resting },
      );
      const handed = handedLater(tested, { ids });
      const asking = await submit(tested);
      open(asking);
      await settled(handed).toEqual([asking, asking]);
      resting.add(asking);
      const meanwhile = await submit(tested);
      await settled(handed).toEqual([asking, asking, meanwhile]);
      open(meanwhile);
      await tested.pass();
      resting.clear();
      const behind = await submit(tested);
      open(behind);
      await tested.pass();
      const beside = await handed();
      isAnswered.resolve();
      expect(beside).toEqual([asking, asking, meanwhile]);
      await settled(handed).toEqual([asking, asking, meanwhile, behind]);
    }));

  test('a turn that ran alone and is given back as any other runs beside others', () =>
    withQueue(async (tested) => {
      const { queue } = tested;
      const { handler, attempts, ids, open } = recorder();
      queue.work(
        handler(async (attempt) => {
          const { turnId, attempt: number } = attempt;
          if (turnId !== suspect || number > 2) return complete(tested, attempt);
          return queue.giveBack(attempt, { isAlone: number === 1 });
        }),
        SLOTS,
      );
      const suspect = await submit(tested);
      open(suspect);
      const handed = handedLater(tested, { ids });
      await settled(handed).toEqual([suspect, suspect, suspect]);
      expect(attempts.map(({ isAlone = false }) => isAlone)).toEqual([false, true, false]);
      expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    }));

  test('a turn that is to run alone is not kept back by the limit of its project', () =>
    withQueue(async (tested) => {
      const { queue } = tested;
      const { handler, ids, open } = recorder();
      const resting = new Set<string>();
      queue.work(
        handler((attempt) => isolate(tested, attempt, suspect)),
        { ...SLOTS, resting: () => resting },
      );
      const small = { projectId: 'small' };
      const suspect = await submit(tested, small);
      await settled(ids).toEqual([suspect]);
      const asking = await submit(tested, small);
      resting.add(asking);
      open(suspect);
      const handed = async () => {
        await tested.pass();
        return ids().toSorted();
      };
      await settled(handed).toEqual([suspect, suspect, asking].toSorted());
    }));

  test('a turn that is to run alone does not wait for one that comes to rest meanwhile', () =>
    withQueue(async (tested) => {
      const { queue } = tested;
      const { handler, ids, open } = recorder();
      const resting = new Set<string>();
      queue.work(
        handler((attempt) => isolate(tested, attempt, suspect)),
        { ...SLOTS, resting: () => resting },
      );
      const asking = await submit(tested);
      const suspect = await submit(tested);
      open(suspect);
      await tested.pass();
      await settled(ids).toEqual([asking, suspect]);
      resting.add(asking);
      const handed = handedLater(tested, { ids });
      await settled(handed).toEqual([asking, suspect, suspect]);
      open(asking);
    }));
}

/** Completes an attempt; that of the suspect only if it runs alone. */
async function isolate(
  tested: QueueUnderTest,
  attempt: TurnAttempt,
  suspect: string,
): Promise<void> {
  const { turnId, isAlone = false } = attempt;
  if (turnId === suspect && !isAlone) {
    await tested.queue.giveBack(attempt, { isAlone: true });
    return;
  }
  await complete(tested, attempt);
}
