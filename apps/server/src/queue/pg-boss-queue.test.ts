import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

import { openStore } from '@orion/agent';
import { OrionError, systemClock, toErrorInfo } from '@orion/contracts';
import type { TurnAttempt } from '@orion/contracts';
import { createFakeClock, describeTurnQueueContract } from '@orion/testkit';
import { PgBoss } from 'pg-boss';
import { expect, it, onTestFinished } from 'vitest';

import { makeDatabase, makeEmptyDatabase } from '../testing/test-database.ts';
import { newTurn, openQueue, openTestStore } from '../testing/test-queue.ts';
import { ALONE, PgBossJobs } from './pg-boss-jobs.ts';
import { PgBossQueue } from './pg-boss-queue.ts';

/** Hazard: a turn that is stored and never run, in one of several processes, or that is run by two attempts at once. */

/** Silent for longer than the engine waits for a process. */
const AGE = `update orion_queue.job set heartbeat_on = heartbeat_on - interval '11 seconds' where state = 'active'`;

describeTurnQueueContract('pg-boss', async (perProject) => {
  const store = openStore({ kind: 'postgres', url: await makeDatabase() }, { clock: systemClock });
  const { servedTurns: turns, turnLog: log, engineDatabase: raw } = store;
  if (raw === null) throw new Error('no Postgres');
  const clock = createFakeClock();
  const errors: unknown[] = [];
  let isKilled = false;
  const open = (isFirst: boolean) =>
    PgBossQueue.open({
      database: {
        ...raw,
        executeSql: (text, values) =>
          isFirst && isKilled ? Promise.reject(new Error('killed')) : raw.executeSql(text, values),
      },
      turns,
      clock,
      isOnly: false,
      perProject,
      onError: (error) => errors.push(error),
    });
  return {
    queue: await open(true),
    next: () => open(false),
    async kill() {
      isKilled = true;
      await raw.executeSql(AGE);
    },
    turns,
    log,
    errors,
    async pass() {
      await clock.advance(1_000);
      await wait(50);
    },
    close: () => store.close(),
  };
});

it('takes up a turn that has no job, with an attempt behind those it had', async () => {
  const store = await openTestStore();
  const turn = newTurn();
  await store.servedTurns.submit(turn, null, () => Promise.resolve());
  await store.turnLog.acquire(turn.turnId, 3);
  const { queue } = await openQueue(store);
  const attempts: TurnAttempt[] = [];
  queue.work(
    async (attempt) => {
      attempts.push(attempt);
      await store.turnLog.acquire(attempt.turnId, attempt.attempt);
      await queue.complete(attempt, null);
    },
    { slots: 1 },
  );
  await expect.poll(() => attempts).toEqual([{ turnId: turn.turnId, attempt: 4 }]);
});

it('takes up a turn that has no job also long after the start', async () => {
  const store = await openTestStore();
  const { queue, pass } = await openQueue(store);
  const handed: string[] = [];
  queue.work(
    async (attempt) => {
      handed.push(attempt.turnId);
      await queue.complete(attempt, null);
    },
    { slots: 1 },
  );
  await pass();
  const turn = newTurn();
  await store.servedTurns.submit(turn, null, () => Promise.resolve());
  await store.engineDatabase?.executeSql('update turn set active_at = active_at - 61000');
  await pass(60_000);
  await expect.poll(() => handed).toEqual([turn.turnId]);
});

it('takes at once what stands behind turns of a project that runs as many as it may', async () => {
  const store = await openTestStore();
  const { queue } = await openQueue(store, { perProject: { others: 1, projects: new Map() } });
  const turns = [newTurn('p'), newTurn('p'), newTurn('q')];
  for (const turn of turns)
    await store.servedTurns.submit(turn, null, (id, inside) => queue.submit(id, inside, turn));
  const handed: string[] = [];
  const end = Promise.withResolvers<void>();
  queue.work(
    async ({ turnId }) => {
      handed.push(turnId);
      await end.promise;
    },
    { slots: 2 },
  );
  // Its clock stands still: it does not look again by itself.
  await expect
    .poll(() => handed.map((id) => turns.findIndex(({ turnId }) => turnId === id)))
    .toContain(2);
  expect(handed).toHaveLength(2);
  end.resolve();
});

it('says to an attempt that was given to another process that it is lost, and lets it change nothing', async () => {
  const store = await openTestStore();
  const { queue, pass } = await openQueue(store);
  const held = Promise.withResolvers<TurnAttempt>();
  const lost = Promise.withResolvers<void>();
  queue.work(
    async (attempt, signal) => {
      signal.addEventListener('abort', () => lost.resolve());
      held.resolve(attempt);
      await lost.promise;
      await queue.giveBack(attempt);
    },
    { slots: 1 },
  );
  const turn = newTurn();
  await store.servedTurns.submit(turn, null, (id, inside) => queue.submit(id, inside, turn));
  const attempt = await held.promise;
  await store.engineDatabase?.executeSql(
    'update orion_queue.job set retry_count = retry_count + 1',
  );
  expect(await queue.complete(attempt, null)).toBe(false);
  await expect
    .poll(async () => {
      await pass();
      return Promise.race([lost.promise.then(() => 'lost'), wait(1, 'held')]);
    })
    .toBe('lost');
  await pass();
  const answer = await store.engineDatabase?.executeSql('select state from orion_queue.job');
  expect((answer as { rows: unknown }).rows).toEqual([{ state: 'active' }]);
});

it('lets an attempt of its own that the engine gave up end before the next one begins', async () => {
  const store = await openTestStore();
  const { queue, pass } = await openQueue(store);
  const attempts: TurnAttempt[] = [];
  const signals: AbortSignal[] = [];
  const isSaved = Promise.withResolvers<void>();
  const isOver = Promise.withResolvers<void>();
  onTestFinished(() => isOver.resolve());
  queue.work(
    async (attempt, lost) => {
      attempts.push(attempt);
      signals.push(lost);
      await (attempt.attempt === 1 ? isSaved : isOver).promise;
    },
    { slots: 2 },
  );
  const turn = newTurn();
  const { turnId } = turn;
  await store.servedTurns.submit(turn, null, (id, inside) => queue.submit(id, inside, turn));
  const [first, second] = [1, 2].map((attempt) => ({ turnId, attempt }));
  await expect.poll(() => attempts).toEqual([first]);
  await store.engineDatabase?.executeSql(`update orion_queue.job set state = 'retry'`);
  const taken = async (): Promise<unknown> => {
    await pass();
    const text = 'select state, retry_count::int from orion_queue.job';
    const answer = await store.engineDatabase?.executeSql(text);
    return (answer as { rows: unknown }).rows;
  };
  await expect.poll(taken).toEqual([{ state: 'active', retry_count: expect.anything() }]);
  expect(attempts).toEqual([first]);
  // What it would still say is another one's to say.
  expect(signals[0]?.aborted).toBe(true);
  isSaved.resolve();
  await expect.poll(() => attempts).toEqual([first, second]);
  expect(signals[1]?.aborted).toBe(false);
  // By then the first one is forgotten, and the second one is not.
  await pass();
  expect(second !== undefined && (await queue.complete(second, null))).toBe(true);
});

it('confirms an attempt until it was given back, and not while its process still waits for something', async () => {
  const store = await openTestStore();
  const { queue, pass } = await openQueue(store);
  const goOn = Promise.withResolvers<void>();
  const isGivenBack = Promise.withResolvers<void>();
  const isOver = Promise.withResolvers<void>();
  queue.work(
    async (attempt) => {
      await goOn.promise;
      await queue.giveBack(attempt);
      isGivenBack.resolve();
      await isOver.promise;
    },
    { slots: 1 },
  );
  const turn = newTurn();
  await store.servedTurns.submit(turn, null, (id, inside) => queue.submit(id, inside, turn));
  const confirmedAt = async (): Promise<unknown> => {
    await pass(3_000);
    const text = 'select state, heartbeat_on::text from orion_queue.job';
    const answer = await store.engineDatabase?.executeSql(text);
    return (answer as { rows: unknown }).rows;
  };
  const out = [{ state: 'active', heartbeat_on: expect.any(String) }];
  await expect.poll(confirmedAt).toEqual(out);
  const first = await confirmedAt();
  await expect.poll(confirmedAt).not.toEqual(first);
  goOn.resolve();
  await isGivenBack.promise;
  await confirmedAt();
  const last = await confirmedAt();
  expect(last).toEqual(out);
  expect(await confirmedAt()).toEqual(last);
  isOver.resolve();
});

it('makes no second job of a turn that waits to run alone', async () => {
  const store = await openTestStore();
  const { queue, pass } = await openQueue(store);
  const turn = newTurn();
  const { promise: isAloneHere, resolve } = Promise.withResolvers<void>();
  const isOver = Promise.withResolvers<void>();
  queue.work(
    async (attempt) => {
      if (attempt.isAlone !== true) return queue.giveBack(attempt, { isAlone: true });
      resolve();
      await isOver.promise;
      return undefined;
    },
    { slots: 1 },
  );
  await store.servedTurns.submit(turn, null, (id, inside) => queue.submit(id, inside, turn));
  await expect
    .poll(async () => {
      await pass();
      return Promise.race([isAloneHere.then(() => 'alone'), wait(1, 'not yet')]);
    })
    .toBe('alone');
  const other = await openQueue(store);
  other.queue.work(() => Promise.resolve(), { slots: 1 });
  await other.pass();
  const answer = await store.engineDatabase?.executeSql('select name from orion_queue.job');
  isOver.resolve();
  expect((answer as { rows: unknown }).rows).toEqual([{ name: 'turn.alone.v1' }]);
});

it('takes the job back that it made of a turn which went to run alone at the same moment', async () => {
  const { engineDatabase: raw } = await openTestStore();
  if (raw === null) throw new Error('no Postgres');
  const open = async (database: typeof raw): Promise<PgBossJobs> => {
    const jobs = await PgBossJobs.open({ database, clock: systemClock, onError: () => undefined });
    onTestFinished(() => jobs.close());
    return jobs;
  };
  const turns = [{ turnId: randomUUID(), attempt: 0, projectId: 'p', priority: 'batch' }] as const;
  const other = await open(raw);
  let isLooking = false;
  const late = await open({
    ...raw,
    async executeSql(text, values) {
      // It has looked, and is about to make the job.
      if (isLooking && /insert into/iu.test(text)) {
        isLooking = false;
        await other.addMissing(turns);
        const perProject = { others: Infinity, projects: new Map() };
        const [taken] = await other.take('turn.v1', { atMost: 1, perProject });
        if (taken !== undefined) await other.move(taken.job, taken.attempt, ALONE);
      }
      return raw.executeSql(text, values);
    },
  });
  isLooking = true;
  await late.addMissing(turns);
  expect(isLooking).toBe(false);
  const answer = await raw.executeSql('select name from orion_queue.job');
  expect((answer as { rows: unknown }).rows).toEqual([{ name: 'turn.alone.v1' }]);
});

it('does not move a job to run alone that another process has meanwhile', async () => {
  const store = await openTestStore();
  const { queue, pass } = await openQueue(store);
  const held = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  queue.work(
    async (attempt) => {
      held.resolve();
      await goOn.promise;
      await queue.giveBack(attempt, { isAlone: true });
    },
    { slots: 1 },
  );
  const turn = newTurn();
  await store.servedTurns.submit(turn, null, (id, inside) => queue.submit(id, inside, turn));
  await held.promise;
  await store.engineDatabase?.executeSql(
    'update orion_queue.job set retry_count = retry_count + 1',
  );
  goOn.resolve();
  await pass();
  await queue.drain();
  const answer = await store.engineDatabase?.executeSql('select name, state from orion_queue.job');
  expect((answer as { rows: unknown }).rows).toEqual([{ name: 'turn.v1', state: 'active' }]);
});

it('leaves a turn alone whose job has a format of a newer version, which takes it and those of this one', async () => {
  const store = await openTestStore();
  const { queue, pass } = await openQueue(store);
  const raw = store.engineDatabase;
  const newer = new PgBoss({
    db: { executeSql: async (text, values) => (await raw?.executeSql(text, values)) as never },
    schema: 'orion_queue',
    supervise: false,
    schedule: false,
  });
  onTestFinished(() => newer.stop({ graceful: false, close: false }));
  await newer.start();
  await newer.createQueue('turn.v2');
  const [ours, theirs] = [newTurn(), newTurn()];
  await store.servedTurns.submit(theirs, null, async (id) => {
    await newer.insert('turn.v2', [{ id }]);
  });
  const attempts: string[] = [];
  queue.work(
    async (attempt) => {
      attempts.push(attempt.turnId);
      void queue.drain();
      await queue.giveBack(attempt);
    },
    { slots: 1 },
  );
  // It looks for turns without a job before it takes the first one.
  await pass();
  await store.servedTurns.submit(ours, null, (id, inside) => queue.submit(id, inside, ours));
  await expect.poll(() => attempts).toEqual([ours.turnId]);
  const idsIn = async (name: string): Promise<readonly string[]> =>
    (await newer.fetch(name, { batchSize: 9 })).map(({ id }) => id);
  await expect.poll(() => idsIn('turn.v1')).toEqual([ours.turnId]);
  expect(await idsIn('turn.v2')).toEqual([theirs.turnId]);
});

it('leaves room for other projects where one has more turns than it may run', async () => {
  const store = await openTestStore();
  const { queue, pass } = await openQueue(store, {
    perProject: { others: 2, projects: new Map() },
  });
  const running: string[] = [];
  const end = Promise.withResolvers<void>();
  const turns = [newTurn('a'), newTurn('a'), newTurn('a'), newTurn('b')];
  const ofFirst = (): readonly string[] =>
    running.filter((id) => turns.some((turn) => turn.turnId === id && turn.projectId === 'a'));
  for (const turn of turns)
    await store.servedTurns.submit(turn, null, (id, inside) => queue.submit(id, inside, turn));
  queue.work(
    async (attempt) => {
      running.push(attempt.turnId);
      await end.promise;
      await queue.complete(attempt, null);
    },
    { slots: 9 },
  );
  await expect
    .poll(async () => {
      await pass();
      return running;
    })
    .toContain(turns[3]?.turnId);
  expect(ofFirst()).toHaveLength(2);
  end.resolve();
  await expect
    .poll(async () => {
      await pass();
      return ofFirst();
    })
    .toHaveLength(3);
});

it('needs no right to create a schema that is there', async () => {
  const url = await makeEmptyDatabase();
  const administrator = await openTestStore(url);
  const user = `orion_user_${randomUUID().slice(0, 8)}`;
  const run = (text: string) => administrator.engineDatabase?.executeSql(text);
  // The store has made its own tables.
  await administrator.servedTurns.count({});
  await run(`create role ${user} login; grant all on all tables in schema public to ${user};
    grant all on all sequences in schema public to ${user};
    revoke create on database ${new URL(url).pathname.slice(1)} from public`);
  onTestFinished(async () => {
    await run(`drop owned by ${user}; drop role ${user}`);
  });
  const theirs = new URL(url);
  theirs.username = user;
  const store = await openTestStore(theirs.href);
  const refused = openQueue(store, { clock: systemClock });
  await expect(refused).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  await run(`create schema orion_queue authorization ${user}`);
  const { queue } = await openQueue(store);
  expect(queue.waiting()).toEqual({ turns: 0, oldestMs: 0 });
});

it('is opened by several processes at once, of which one makes the tables', async () => {
  const url = await makeEmptyDatabase();
  const stores = await Promise.all(Array.from({ length: 6 }, () => openTestStore(url)));
  for (const store of stores) await store.servedTurns.count({});
  const opened = await Promise.all(stores.map((store) => openQueue(store, { clock: systemClock })));
  expect(opened).toHaveLength(6);
});

it('says of a store that is away that it is, and of no defect', async () => {
  const store = await openTestStore();
  const { engineDatabase } = store;
  if (engineDatabase === null) throw new Error('no Postgres');
  let isAway = false;
  const away = new OrionError({ code: 'STORE_UNAVAILABLE', message: 'away', retryable: true });
  const errors: unknown[] = [];
  const queue = await PgBossQueue.open({
    database: {
      ...engineDatabase,
      executeSql: (text, values) =>
        isAway ? Promise.reject(away) : engineDatabase.executeSql(text, values),
    },
    turns: store.servedTurns,
    clock: systemClock,
    isOnly: false,
    perProject: { others: Infinity, projects: new Map() },
    onError: (error) => errors.push(error),
  });
  onTestFinished(() => queue.drain());
  isAway = true;
  // The engine looks once a second by its own timers.
  await wait(1_500);
  expect(errors.length).toBeGreaterThan(0);
  expect(new Set(errors.map((error) => toErrorInfo(error).code))).toEqual(
    new Set(['STORE_UNAVAILABLE']),
  );
});
