import { randomUUID } from 'node:crypto';

import type {
  QueuePlace,
  RunningLimits,
  ServedTurns,
  TurnAttempt,
  TurnHandler,
  TurnLog,
  TurnQueue,
} from '@orion/contracts';
import { describe, expect, test } from 'vitest';

export type QueueUnderTest = {
  readonly queue: TurnQueue;
  /** Another queue over the same turns, as the next process makes it. */
  readonly next: () => Promise<TurnQueue>;
  /** As if the process of `queue` were killed, so long ago that its attempts count as ended. */
  readonly kill: () => Promise<void>;
  readonly turns: ServedTurns;
  readonly log: TurnLog;
  /** Lets the pauses of the queue pass. */
  readonly pass: () => Promise<void>;
  /** What the queue was told of, such as errors of handlers. */
  readonly errors: readonly unknown[];
  close(): Promise<void>;
};

const SLOTS = { slots: 2 };
const PER_PROJECT: RunningLimits = { others: 100, projects: new Map([['small', 1]]) };

/**
 * Who tries which turn next.
 *
 * 1. A turn is handed out once its transaction is committed, and not otherwise; first come, first served, as many at a
 *    time as there are slots. Interactive turns come before others, and those of a project that runs as many as it may
 *    wait.
 * 2. Until it is completed or withdrawn a turn is handed out again, each time with a higher number; never twice at the
 *    same time.
 * 3. What a handler throws ends the attempt and nothing else.
 * 4. A queue that drains hands out nothing; what it leaves behind is handed out by the next one, also what was running.
 */
export function describeTurnQueueContract(
  name: string,
  factory: (perProject: RunningLimits) => Promise<QueueUnderTest>,
): void {
  describe(`turn queue contract: ${name}`, () => {
    /** Of the attempts of one test. */
    let openers: (() => void)[] = [];
    const withQueue = async (use: (tested: QueueUnderTest) => Promise<void>): Promise<void> => {
      const tested = await factory(PER_PROJECT);
      openers = [];
      try {
        await use(tested);
      } finally {
        // A queue waits for what runs: a test that failed would only be said to have taken too long.
        for (const openAll of openers) openAll();
        await tested.queue.drain();
        await tested.close();
      }
    };
    const submit = async (
      { queue, turns }: Pick<QueueUnderTest, 'queue' | 'turns'>,
      place: Partial<QueuePlace> = {},
    ) => {
      const turnId = randomUUID();
      const turn = {
        turnId,
        newConversationId: randomUUID(),
        projectId: 'p',
        content: '',
        mode: 'act',
        conversationId: randomUUID(),
        protocol: null,
        metadata: {},
        ...place,
      } as const;
      await turns.submit(turn, null, (id, transaction) => queue.submit(id, transaction, turn));
      return turnId;
    };
    const submitAll = async (
      tested: QueueUnderTest,
      places: readonly Partial<QueuePlace>[],
    ): Promise<readonly string[]> => {
      const ids: string[] = [];
      for (const place of places) ids.push(await submit(tested, place));
      return ids;
    };
    const end = async ({ log }: QueueUnderTest, { turnId, attempt }: TurnAttempt) => {
      const { epoch, lastSeq } = await log.acquire(turnId, attempt);
      const seq = lastSeq + 1;
      await log.append(turnId, epoch, seq, [{ seq, kind: 'done', data: {} }]);
    };
    /** Records what is handed out, and lets a test decide when each attempt goes on. */
    const recorder = () => {
      const attempts: TurnAttempt[] = [];
      const gates = new Map<string, PromiseWithResolvers<void>>();
      let isOver = false;
      const gateOf = (turnId: string): PromiseWithResolvers<void> => {
        const gate = gates.get(turnId) ?? Promise.withResolvers<void>();
        gates.set(turnId, gate);
        if (isOver) gate.resolve();
        return gate;
      };
      openers.push(() => {
        isOver = true;
        for (const { resolve } of gates.values()) resolve();
      });
      return {
        attempts,
        ids: () => attempts.map(({ turnId }) => turnId),
        open: (turnId: string) => gateOf(turnId).resolve(),
        handler:
          (
            then: (attempt: TurnAttempt, lost: AbortSignal) => Promise<unknown>,
            begin: (attempt: TurnAttempt) => Promise<unknown> = () => Promise.resolve(),
          ): TurnHandler =>
          async (attempt, lost) => {
            attempts.push(attempt);
            await begin(attempt);
            await gateOf(attempt.turnId).promise;
            await then(attempt, lost);
          },
      };
    };
    const settled = (get: () => unknown) => expect.poll(get, { timeout: 5_000, interval: 5 });

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
          handler(async (attempt) => {
            await end(tested, attempt);
            await queue.complete(attempt, null);
          }),
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
        const ofSmall = await submitAll(tested, [small, small, small, small, small]);
        const [one = '', two = '', ...rest] = ofSmall;
        const other = await submit(tested, { projectId: 'constructor' });
        queue.work(
          handler(async (attempt) => {
            await end(tested, attempt);
            await queue.complete(attempt, null);
          }),
          SLOTS,
        );
        const handed = async () => {
          await tested.pass();
          return ids();
        };
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
            if (attempt.attempt < 3) return queue.giveBack(attempt);
            await end(tested, attempt);
            return queue.complete(attempt, null);
          }),
          SLOTS,
        );
        const turnId = await submit(tested);
        open(turnId);
        await settled(() => attempts).toEqual([1, 2, 3].map((attempt) => ({ turnId, attempt })));
        await tested.pass();
        expect(attempts).toHaveLength(3);
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
        await settled(() => attempts.length).toBe(1);
        const other = await submit(tested);
        open(other);
        await settled(() => attempts.at(-1)?.turnId).toBe(other);
        await settled(async () => {
          await tested.pass();
          return attempts.filter(({ turnId }) => turnId === failing).map(({ attempt }) => attempt);
        }).toEqual([1, 2, 3]);
        expect(tested.errors).toContainEqual(new Error('a defect'));
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

    test('a turn that is to run alone waits for those that run, and those behind it wait for it', () =>
      withQueue(async (tested) => {
        const { queue } = tested;
        const { handler, attempts, ids, open } = recorder();
        queue.work(
          handler(async (attempt) => {
            const { turnId, isAlone = false } = attempt;
            if (turnId === suspect && !isAlone) return queue.giveBack(attempt, { isAlone: true });
            await end(tested, attempt);
            return queue.complete(attempt, null);
          }),
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

    test('a process that is overloaded takes nothing, until it is not', () =>
      withQueue(async (tested) => {
        const { queue } = tested;
        const { handler, ids, open } = recorder();
        let isOverloaded = true;
        queue.work(
          handler(async (attempt) => {
            await end(tested, attempt);
            await queue.complete(attempt, null);
          }),
          { ...SLOTS, isOverloaded: () => isOverloaded },
        );
        const turnId = await submit(tested);
        open(turnId);
        const handed = async () => {
          await tested.pass();
          return ids();
        };
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
          handler(async (attempt) => {
            await end(tested, attempt);
            await queue.complete(attempt, null);
          }),
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
        const handed = async () => {
          await tested.pass();
          return ids();
        };
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

    test('a turn that is to run alone is not kept back by the limit of its project', () =>
      withQueue(async (tested) => {
        const { queue } = tested;
        const { handler, ids, open } = recorder();
        const resting = new Set<string>();
        queue.work(
          handler(async (attempt) => {
            const { turnId, isAlone = false } = attempt;
            if (turnId === suspect && !isAlone) return queue.giveBack(attempt, { isAlone: true });
            await end(tested, attempt);
            return queue.complete(attempt, null);
          }),
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
          handler(async (attempt) => {
            const { turnId, isAlone = false } = attempt;
            if (turnId === suspect && !isAlone) return queue.giveBack(attempt, { isAlone: true });
            await end(tested, attempt);
            return queue.complete(attempt, null);
          }),
          { ...SLOTS, resting: () => resting },
        );
        const asking = await submit(tested);
        const suspect = await submit(tested);
        open(suspect);
        await tested.pass();
        await settled(ids).toEqual([asking, suspect]);
        resting.add(asking);
        const handed = async () => {
          await tested.pass();
          return ids();
        };
        await settled(handed).toEqual([asking, suspect, suspect]);
        open(asking);
      }));
  });
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
