import { createOrion } from '@orion/agent';
import type { Orion } from '@orion/agent';
import { OrionError } from '@orion/contracts';
import type { CompleteAttempt, FinishOutcome, TurnLog } from '@orion/contracts';
import { createFakeClock, textReply } from '@orion/testkit';
import { expect, it, onTestFinished } from 'vitest';

import { temporaryDirectory } from '../testing/test-server.ts';
import { doneOf, startTurns } from '../testing/test-turns.ts';

/** Hazard: a turn ends and stays in the queue, or leaves the queue without an end. */

type Finish = (complete: CompleteAttempt | undefined) => Promise<FinishOutcome>;

/** A server over a store whose ends of turns go through `around`. */
async function startOver(
  around: (finish: Finish) => Finish,
  run?: (orion: Orion) => Partial<Orion>,
) {
  const root = await temporaryDirectory();
  const opened = await createOrion({ workspace: root, store: 'memory' });
  onTestFinished(() => opened.close());
  const { store } = opened;
  const attempts: (number | null)[] = [];
  const appended: string[] = [];
  const turnLog: TurnLog = {
    ...store.turnLog,
    acquire(turnId, attempt) {
      attempts.push(attempt);
      return store.turnLog.acquire(turnId, attempt);
    },
    appendAll(appends) {
      for (const { events } of appends) appended.push(...events.map(({ kind }) => kind));
      return store.turnLog.appendAll(appends);
    },
    finish: (append, conversation, complete) =>
      around((part) => store.turnLog.finish(append, conversation, part))(complete),
  };
  const clock = createFakeClock();
  const test = await startTurns({
    root,
    store: { ...store, turnLog },
    serverClock: clock,
    replies: [textReply('one'), textReply('two')],
    ...(run === undefined ? {} : { projects: (orion) => ({ p: { ...orion, ...run(orion) } }) }),
  });
  return {
    ...test,
    attempts,
    appended,
    pass: (milliseconds: number) => clock.advance(milliseconds),
  };
}

const failing = (): Partial<Orion> => ({
  runOwnedTurn: () => {
    throw new OrionError({ code: 'MODEL_MISSING', message: 'of a test' });
  },
});

it.each([
  ['agent', undefined, 'complete', [1]],
  ['runner', failing, 'error', [1, 1]],
] as const)(
  'is one transaction of the log and of the queue where the %s ends a turn',
  async (_, run, status, expected) => {
    const completed: (boolean | undefined)[] = [];
    const { submit, ended, turns, attempts, appended, pass } = await startOver(
      (finish) => (complete) =>
        finish(async (transaction) => {
          const isOwn = await complete?.(transaction);
          completed.push(isOwn);
          return isOwn === true;
        }),
      run,
    );
    expect(doneOf(await ended(await submit())).status).toBe(status);
    await expect.poll(() => turns.running()).toBe(0);
    await pass(60_000);
    expect(completed).toEqual([true]);
    expect(attempts).toEqual(expected);
    expect(appended).not.toContain('done');
  },
);

it('leaves a turn in the queue whose end was undone', async () => {
  let ends = 0;
  const { submit, ended, attempts, pass } = await startOver((finish) => (complete) => {
    ends += 1;
    return finish(async (transaction) => {
      const isOwn = (await complete?.(transaction)) === true;
      return isOwn && ends > 1;
    });
  });
  const turnId = await submit();
  await expect
    .poll(async () => {
      await pass(1_000);
      return ends;
    })
    .toBe(2);
  expect(doneOf(await ended(turnId))).toMatchObject({ status: 'complete', fullContent: 'two' });
  expect(attempts).toEqual([1, 2]);
});

it('tries no turn again whose end was stored without an answer', async () => {
  let ends = 0;
  const { submit, ended, turns, attempts, pass } = await startOver((finish) => async (complete) => {
    ends += 1;
    const outcome = await finish(complete);
    if (ends > 1) return outcome;
    throw new OrionError({ code: 'STORE_UNAVAILABLE', message: 'cut', retryable: true });
  });
  await ended(await submit());
  await expect.poll(() => turns.running()).toBe(0);
  await pass(60_000);
  expect([ends, attempts]).toEqual([2, [1]]);
});
