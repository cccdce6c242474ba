import { createOrion } from '@orion/agent';
import type { Orion } from '@orion/agent';
import { OrionError } from '@orion/contracts';
import type { ServedTurns, StoreTransaction, TransactionOutcome } from '@orion/contracts';
import { createFakeClock, describeTurnQueueContract } from '@orion/testkit';
import { expect, it, onTestFinished } from 'vitest';

import { temporaryDirectory } from '../testing/test-server.ts';
import { InProcessQueue } from './in-process-queue.ts';

/** Hazard: a turn that is stored and never run, or that is run by two attempts at once. */

async function memoryOrion(): Promise<Orion> {
  return createOrion({ workspace: await temporaryDirectory(), store: 'memory' });
}

describeTurnQueueContract('in the process', async (perProject) => {
  const orion = await memoryOrion();
  const { servedTurns: turns, turnLog: log } = orion.store;
  const clock = createFakeClock();
  const errors: unknown[] = [];
  const make = () =>
    new InProcessQueue({ turns, clock, perProject, onError: (error) => errors.push(error) });
  return {
    queue: make(),
    next: () => Promise.resolve(make()),
    kill: () => Promise.resolve(),
    turns,
    log,
    errors,
    pass: () => clock.advance(10_000),
    close: () => orion.close(),
  };
});

const AWAY = new OrionError({ code: 'STORE_UNAVAILABLE', message: 'away', retryable: true });

/** A queue over rows that a test gives it, and over a store that fails as often as it says. */
function queueOver(rows: { turnId: string; attempt: number }[], running = Infinity) {
  const clock = createFakeClock();
  const asked: string[] = [];
  const store = { failures: 0 };
  const errors: unknown[] = [];
  const ask = (what: string): void => {
    asked.push(what);
    if (store.failures === 0) return;
    store.failures -= 1;
    throw AWAY;
  };
  const turns: Pick<ServedTurns, 'reclaim' | 'waiting'> = {
    reclaim: async () => ask('reclaim'),
    waiting: async () => {
      ask('waiting');
      return rows.map((row) => ({ ...row, projectId: 'p', priority: 'interactive' as const }));
    },
  };
  const perProject = { others: running, projects: new Map() };
  const queue = new InProcessQueue({
    turns,
    clock,
    perProject,
    onError: (error) => errors.push(error),
  });
  const handed: string[] = [];
  const work = (slots = 9, goOn: Promise<void> = Promise.resolve()): void =>
    queue.work(
      async (attempt) => {
        handed.push(`${attempt.turnId} ${attempt.attempt}`);
        await goOn;
        await queue.complete(attempt, null);
      },
      { slots },
    );
  const submit = async (turnId: string, outcome: TransactionOutcome): Promise<void> => {
    const ends: ((outcome: TransactionOutcome) => void)[] = [];
    const transaction: StoreTransaction = {
      all: () => Promise.resolve([]),
      onEnd: (end) => void ends.push(end),
    };
    await queue.submit(turnId, transaction, { projectId: 'p' });
    for (const end of ends) end(outcome);
    await clock.advance(0);
  };
  onTestFinished(() => queue.drain());
  return { queue, clock, asked, store, errors, rows, handed, work, submit };
}

it('looks a turn up whose commit was not answered, until the store says', async () => {
  const { clock, store, rows, handed, asked, errors, work, submit } = queueOver([]);
  work();
  await clock.advance(0);
  rows.push({ turnId: 'stored', attempt: 0 });
  store.failures = 2;
  await submit('stored', 'unknown');
  expect(handed).toEqual([]);
  await clock.advance(100);
  await clock.advance(500);
  expect(handed).toEqual(['stored 1']);
  expect(errors).toEqual([AWAY, AWAY]);
  // Only a start takes over what has an owner.
  expect(asked.filter((what) => what === 'reclaim')).toHaveLength(1);
});

it.each([1_000, 12_000, 40_000])(
  'hands out a turn whose commit was not answered and shows %i ms later',
  async (later) => {
    const { clock, rows, handed, asked, work, submit } = queueOver([]);
    work();
    await clock.advance(0);
    await submit('late', 'unknown');
    await clock.advance(later);
    rows.push({ turnId: 'late', attempt: 0 });
    await clock.advance(60_000);
    expect(handed).toEqual(['late 1']);
    const looks = asked.length;
    await clock.advance(3_600_000);
    expect(asked).toHaveLength(looks);
    expect(clock.pending()).toBe(0);
  },
);

it.each([
  ['was handed out before that', ['a', 'b']],
  ['was found there before its own commit was answered', ['b', 'a']],
])('hands out once, of what the store is asked for, a turn that %s', async (_, order) => {
  const { clock, rows, handed, work, submit } = queueOver([]);
  const isOver = Promise.withResolvers<void>();
  work(9, isOver.promise);
  await clock.advance(0);
  rows.push({ turnId: 'a', attempt: 0 }, { turnId: 'b', attempt: 0 });
  for (const turnId of order) await submit(turnId, turnId === 'a' ? 'committed' : 'unknown');
  isOver.resolve();
  await clock.advance(0);
  expect(handed).toEqual(['a 1', 'b 1']);
});

it('hands nothing out before it knows what an earlier process left behind, which comes first', async () => {
  const { clock, store, handed, errors, work, submit } = queueOver([
    { turnId: 'old', attempt: 3 },
    { turnId: 'older than it was submitted', attempt: 0 },
  ]);
  store.failures = 3;
  work(1);
  await submit('new', 'committed');
  await submit('older than it was submitted', 'committed');
  expect(handed).toEqual([]);
  await clock.advance(100 + 500 + 1_000);
  expect(handed).toEqual(['old 4', 'older than it was submitted 1', 'new 1']);
  expect(errors).toHaveLength(3);
});

it('asks the store at the start and never again: nothing polls', async () => {
  const { clock, asked, handed, work, submit } = queueOver([]);
  work();
  await clock.advance(3_600_000);
  await submit('a', 'committed');
  await submit('b', 'undone');
  await clock.advance(3_600_000);
  expect(handed).toEqual(['a 1']);
  expect(asked).toEqual(['reclaim', 'waiting']);
  expect(clock.pending()).toBe(0);
});

it('gives up asking a store that is away when it drains', async () => {
  const { queue, clock, store, work } = queueOver([]);
  store.failures = Number.POSITIVE_INFINITY;
  work();
  await clock.advance(0);
  await queue.drain();
  await clock.advance(0);
  expect(clock.pending()).toBe(0);
});

it('says how long the first turn has been waiting', async () => {
  const { queue, clock, submit } = queueOver([]);
  await submit('a', 'committed');
  await clock.advance(2_000);
  await submit('b', 'committed');
  await clock.advance(500);
  expect(queue.waiting()).toEqual({ turns: 2, oldestMs: 2_500 });
});

it('looks at what the process has to do once for all that wait, and anew when it hands one out', async () => {
  const rows = Array.from({ length: 100 }, (_, index) => ({ turnId: `t${index}`, attempt: 0 }));
  const { queue, clock, submit } = queueOver(rows, 2);
  const end = Promise.withResolvers<void>();
  let looks = 0;
  let handed = 0;
  queue.work(
    async () => {
      handed += 1;
      await end.promise;
    },
    {
      slots: 9,
      resting: () => {
        looks += 1;
        return new Set();
      },
      isOverloaded: () => {
        looks += 1;
        return false;
      },
    },
  );
  await clock.advance(0);
  expect([handed, looks]).toEqual([2, 4]);
  await submit('one more', 'committed');
  expect([handed, looks]).toEqual([2, 4]);
  end.resolve();
});
