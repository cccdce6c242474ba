import type { ServedTurns } from '@orion/contracts';
import { expect, test } from 'vitest';

import { complete, end, handedLater, settled, SLOTS, submit } from './queue-testing.ts';
import type { QueueTesting } from './queue-testing.ts';

/** Which turn is handed out, and when. */
export function testHandingOut({ withQueue, recorder }: QueueTesting): void {
  test('turns come in the order of their submission, as many at a time as there are slots', () =>
    withQueue(async (tested) => {
      const { queue } = tested;
      const ids = [await submit(tested), await submit(tested), await submit(tested)];
      const { handler, attempts, ids: handed, open } = recorder();
      queue.work(
        handler(
          async (attempt) => {
            await end(tested, attempt);
            await queue.complete(attempt, null);
          },
          ({ turnId, attempt }) => tested.log.acquire(turnId, attempt),
        ),
        SLOTS,
      );
      await settled(handed).toEqual(ids.slice(0, 2));
      ids.push(await submit(tested));
      expect(handed()).toHaveLength(2);
      const waiting = async () => {
        await tested.pass();
        return queue.waiting();
      };
      await settled(waiting).toMatchObject({ turns: 2, oldestMs: expect.any(Number) });
      open(ids[1] ?? '');
      await settled(handed).toEqual(ids.slice(0, 3));
      for (const id of ids) open(id);
      await settled(handed).toEqual(ids);
      await settled(waiting).toEqual({ turns: 0, oldestMs: 0 });
      await tested.pass();
      expect(attempts).toEqual(ids.map((turnId) => ({ turnId, attempt: 1 })));
    }));

  test('interactive turns come before others, also after a start', () =>
    withQueue(async (tested) => {
      const last = await submit(tested, { priority: 'batch' });
      const first = await submit(tested, { priority: 'interactive' });
      const behind = await submit(tested, { priority: 'batch' });
      const second = await submit(tested);
      const { handler, ids, open } = recorder();
      const queue = await tested.next();
      queue.work(
        handler((attempt) => complete(tested, attempt)),
        { slots: 1 },
      );
      for (const id of [first, second, last, behind]) open(id);
      await settled(ids).toEqual([first, second, last, behind]);
      await queue.drain();
    }));

  test('a project that runs as many turns as it may leaves room to others', () =>
    withQueue(async (tested) => {
      const { queue } = tested;
      const { handler, ids, open } = recorder();
      const small = { projectId: 'small' };
      // Some queues would choose by their ids which of them may run.
      const ofSmall: string[] = [];
      for (let count = 0; count < 5; count += 1) ofSmall.push(await submit(tested, small));
      const [one = '', two = '', ...rest] = ofSmall;
      const other = await submit(tested, { projectId: 'constructor' });
      queue.work(
        handler((attempt) => complete(tested, attempt)),
        SLOTS,
      );
      const handed = handedLater(tested, { ids });
      await settled(handed).toEqual([one, other]);
      open(other);
      await tested.pass();
      expect(ids()).toEqual([one, other]);
      open(one);
      await settled(handed).toEqual([one, other, two]);
      for (const id of ofSmall) open(id);
      await settled(handed).toEqual([one, other, two, ...rest]);
    }));

  test('a turn that was given back is handed out again, with a higher number', () =>
    withQueue(async (tested) => {
      const { queue } = tested;
      const { handler, attempts, open } = recorder();
      queue.work(
        handler(async (attempt) => {
          if (attempt.attempt < 6) return queue.giveBack(attempt);
          await end(tested, attempt);
          return queue.complete(attempt, null);
        }),
        SLOTS,
      );
      const turnId = await submit(tested);
      open(turnId);
      const six = [1, 2, 3, 4, 5, 6];
      await settled(() => attempts).toEqual(six.map((attempt) => ({ turnId, attempt })));
      await tested.pass();
      expect(attempts).toHaveLength(6);
    }));

  test('an attempt that fails, or says nothing, is followed by another one after a pause; others are not disturbed', () =>
    withQueue(async (tested) => {
      const { queue } = tested;
      const { handler, attempts, open } = recorder();
      const failing = await submit(tested);
      queue.work(
        handler(async (attempt) => {
          if (attempt.turnId === failing && attempt.attempt === 1) throw new Error('a defect');
          if (attempt.turnId === failing && attempt.attempt === 2) return;
          await end(tested, attempt);
          await queue.complete(attempt, null);
        }),
        { slots: 1 },
      );
      open(failing);
      await settled(() => tested.errors).toContainEqual(new Error('a defect'));
      const others = [await submit(tested), await submit(tested)];
      for (const other of others) open(other);
      await settled(() => attempts.at(-1)?.turnId).toBe(others[1]);
      // No time has passed.
      expect(attempts.map(({ turnId }) => turnId)).toEqual([failing, ...others]);
      await settled(async () => {
        await tested.pass();
        return attempts.filter(({ turnId }) => turnId === failing).map(({ attempt }) => attempt);
      }).toEqual([1, 2, 3]);
    }));

  test('a turn whose transaction was undone is not handed out', () =>
    withQueue(async (tested) => {
      const { queue, turns } = tested;
      const { handler, ids, open } = recorder();
      queue.work(
        handler((attempt) => queue.complete(attempt, null)),
        SLOTS,
      );
      const undone = { ...tested, turns: failAfter(turns) };
      await expect(submit(undone)).rejects.toThrow('after the queue');
      const stored = await submit(tested);
      open(stored);
      await settled(ids).toEqual([stored]);
      await tested.pass();
      expect(ids()).toEqual([stored]);
    }));

  test('a turn that was withdrawn is not handed out; one whose withdrawal was undone is', () =>
    withQueue(async (tested) => {
      const { queue, turns, log } = tested;
      const { handler, ids, open } = recorder();
      const [first, second, third] = [
        await submit(tested),
        await submit(tested),
        await submit(tested),
      ];
      queue.work(
        handler(async (attempt) => {
          await end(tested, attempt).catch(() => undefined);
          await queue.complete(attempt, null);
        }),
        { slots: 1 },
      );
      await settled(ids).toEqual([first]);
      const done = { afterSeq: 0, events: [{ seq: 1, kind: 'done', data: {} }] };
      await turns.cancel(second, done, (id, transaction) => queue.withdraw(id, transaction));
      await expect(
        turns.cancel(third, done, async (id, transaction) => {
          await queue.withdraw(id, transaction);
          throw new Error('undone');
        }),
      ).rejects.toThrow('undone');
      for (const id of [first, second, third]) open(id);
      await settled(ids).toEqual([first, third]);
      await settled(async () => (await turns.find(third))?.state).toBe('done');
      expect(await log.read(second, 0)).toHaveLength(1);
    }));

  test('a process that is overloaded takes nothing, until it is not', () =>
    withQueue(async (tested) => {
      const { queue } = tested;
      const { handler, ids, open } = recorder();
      let isOverloaded = true;
      queue.work(
        handler((attempt) => complete(tested, attempt)),
        { ...SLOTS, isOverloaded: () => isOverloaded },
      );
      const turnId = await submit(tested);
      open(turnId);
      const handed = handedLater(tested, { ids });
      expect(await handed()).toEqual([]);
      isOverloaded = false;
      await settled(handed).toEqual([turnId]);
    }));

  test('a process that is told to look again takes at once what it had no room for', () =>
    withQueue(async (tested) => {
      const { queue } = tested;
      const { handler, ids, open } = recorder();
      let isOverloaded = true;
      queue.work(
        handler((attempt) => complete(tested, attempt)),
        { ...SLOTS, isOverloaded: () => isOverloaded },
      );
      const turnId = await submit(tested);
      open(turnId);
      await tested.pass();
      isOverloaded = false;
      queue.lookAgain();
      // No time passes.
      await settled(ids).toEqual([turnId]);
    }));
}

/** The transaction fails after the queue took part in it. */
function failAfter(turns: ServedTurns): ServedTurns {
  return {
    ...turns,
    submit: (turn, key, enqueue) =>
      turns.submit(turn, key, async (turnId, transaction) => {
        await enqueue(turnId, transaction);
        throw new Error('after the queue');
      }),
  };
}
