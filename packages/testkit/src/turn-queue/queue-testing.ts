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
import { expect } from 'vitest';

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

/** What the tests of the contract do with a queue. */
export type QueueTesting = {
  /** Gives a test a queue that drains and closes afterwards, whatever became of the test. */
  readonly withQueue: (use: (tested: QueueUnderTest) => Promise<void>) => Promise<void>;
  readonly recorder: () => Recorder;
};

/** Records what is handed out, and lets a test decide when each attempt goes on. */
export type Recorder = {
  readonly attempts: readonly TurnAttempt[];
  readonly ids: () => readonly string[];
  readonly open: (turnId: string) => void;
  readonly handler: (
    then: (attempt: TurnAttempt, lost: AbortSignal) => Promise<unknown>,
    begin?: (attempt: TurnAttempt) => Promise<unknown>,
  ) => TurnHandler;
};

export const SLOTS = { slots: 2 } as const;
const PER_PROJECT: RunningLimits = { others: 100, projects: new Map([['small', 1]]) };

export function queueTesting(
  factory: (perProject: RunningLimits) => Promise<QueueUnderTest>,
): QueueTesting {
  /** Of the attempts of one test. */
  let openers: (() => void)[] = [];
  return {
    async withQueue(use) {
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
    },
    recorder() {
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
        open: (turnId) => gateOf(turnId).resolve(),
        handler:
          (then, begin = () => Promise.resolve()) =>
          async (attempt, lost) => {
            attempts.push(attempt);
            await begin(attempt);
            await gateOf(attempt.turnId).promise;
            await then(attempt, lost);
          },
      };
    },
  };
}

export async function submit(
  { queue, turns }: Pick<QueueUnderTest, 'queue' | 'turns'>,
  place: Partial<QueuePlace> = {},
): Promise<string> {
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
}

export async function end(
  { log }: QueueUnderTest,
  { turnId, attempt }: TurnAttempt,
): Promise<void> {
  const { epoch, lastSeq } = await log.acquire(turnId, attempt);
  const seq = lastSeq + 1;
  await log.append(turnId, epoch, seq, [{ seq, kind: 'done', data: {} }]);
}

/** Ends a turn, and with it the attempt. */
export async function complete(tested: QueueUnderTest, attempt: TurnAttempt): Promise<void> {
  await end(tested, attempt);
  await tested.queue.complete(attempt, null);
}

/** What was handed out, once a pause of the queue has passed. */
export function handedLater(
  tested: Pick<QueueUnderTest, 'pass'>,
  { ids }: Pick<Recorder, 'ids'>,
): () => Promise<readonly string[]> {
  return async () => {
    await tested.pass();
    return ids();
  };
}

export function settled<Value>(get: () => Value): ReturnType<typeof expect.poll<Value>> {
  return expect.poll(get, { timeout: 5_000, interval: 5 });
}
