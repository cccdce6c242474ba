import { createOrion } from '@orion/agent';
import type { Orion } from '@orion/agent';
import { OrionError, systemClock } from '@orion/contracts';
import type { ServedTurns, TurnHandler, TurnLog } from '@orion/contracts';
import { expect, it, onTestFinished } from 'vitest';

import { projectsOf } from '../projects.ts';
import { InProcessQueue } from '../queue/in-process-queue.ts';
import { temporaryDirectory } from '../testing/test-server.ts';
import { MESSAGE } from '../testing/test-turns.ts';
import { TurnRunner } from './turn-runner.ts';

/** Hazard: a turn begins behind the back of a stop, or is not given back by it; nor when the queue says that it is lost. */

type Parts = {
  readonly onBegun?: () => void;
  readonly acquire?: (acquire: TurnLog['acquire']) => TurnLog['acquire'];
  readonly turns?: Partial<Pick<ServedTurns, 'release' | 'toRun'>>;
  readonly handler?: (handler: TurnHandler) => TurnHandler;
};

/** A runner of one turn, which runs until it is handed off. */
async function startRunner({ onBegun, acquire, turns: own, handler: wrap }: Parts) {
  const root = await temporaryDirectory();
  const orion = await createOrion({ workspace: root, store: 'memory' });
  onTestFinished(() => orion.close());
  const { servedTurns: turns, turnLog: log } = orion.store;
  const queue = new InProcessQueue({
    turns,
    clock: systemClock,
    perProject: { others: Infinity, projects: new Map() },
    onError: () => undefined,
  });
  const work = queue.work.bind(queue);
  queue.work = (handler, limits) => work(wrap?.(handler) ?? handler, limits);
  const waiting: Pick<Orion, 'runOwnedTurn'> = {
    async *runOwnedTurn(_claim, { handOff }) {
      onBegun?.();
      yield* [];
      await new Promise((resolve) => handOff?.addEventListener('abort', resolve));
    },
  };
  const runner = new TurnRunner({
    queue,
    turns: { ...turns, ...own },
    log: { ...log, acquire: acquire?.(log.acquire.bind(log)) ?? log.acquire.bind(log) },
    projects: projectsOf({ ...orion, ...waiting }),
    clock: systemClock,
    slots: 1,
    isOverloaded: () => false,
    onEvent: () => undefined,
    onFailure: () => undefined,
  });
  onTestFinished(() => runner.stop(0));
  runner.start();
  const turn = { ...MESSAGE, turnId: 't', newConversationId: 'c' };
  await turns.submit(turn, null, (id, transaction) => queue.submit(id, transaction, turn));
  return { runner, queue, find: () => turns.find('t') };
}

/** An acquire that waits, once it has begun, until it is opened. */
function gatedAcquire() {
  const begun = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  const acquire =
    (original: TurnLog['acquire']): TurnLog['acquire'] =>
    async (...which) => {
      begun.resolve();
      await opened.promise;
      return original(...which);
    };
  return { acquire, begun: begun.promise, open: () => opened.resolve() };
}

/** A queue that says of the first attempt that it is lost when a test says so, and the attempts that ran. */
function losingFirst() {
  const lost = new AbortController();
  const ran: number[] = [];
  let last = 0;
  const handler =
    (original: TurnHandler): TurnHandler =>
    ({ attempt, ...turn }, signal) => {
      last = attempt;
      return original({ ...turn, attempt }, attempt === 1 ? lost.signal : signal);
    };
  return { parts: { handler, onBegun: () => ran.push(last) }, ran, lose: () => lost.abort() };
}

it('gives a turn back that was being acquired when the others were handed off', async () => {
  const { acquire, begun, open } = gatedAcquire();
  let runs = 0;
  const { runner, find } = await startRunner({ acquire, onBegun: () => (runs += 1) });
  await begun;
  const stopped = runner.stop(0);
  await new Promise((resolve) => setTimeout(resolve, 20));
  open();
  await stopped;
  expect([runs, runner.running()]).toEqual([0, 0]);
  expect(await find()).toMatchObject({ state: 'queued' });
});

it('gives a turn back before the store has answered that nobody has it', async () => {
  const begun = Promise.withResolvers<void>();
  const givenBack = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const { runner, queue } = await startRunner({
    onBegun: () => begun.resolve(),
    turns: { release: () => answered.promise },
  });
  const giveBack = queue.giveBack.bind(queue);
  queue.giveBack = (...attempt) => {
    givenBack.resolve();
    return giveBack(...attempt);
  };
  await begun.promise;
  const stopped = runner.stop(0);
  await givenBack.promise;
  answered.resolve();
  await stopped;
});

it('hands a turn off that is lost while it runs', async () => {
  const { parts, ran, lose } = losingFirst();
  await startRunner(parts);
  await expect.poll(() => ran).toEqual([1]);
  lose();
  await expect.poll(() => ran).toEqual([1, 2]);
});

it('does not run a turn that is lost while it is acquired', async () => {
  const { parts, ran, lose } = losingFirst();
  const { acquire, begun, open } = gatedAcquire();
  await startRunner({ ...parts, acquire });
  await begun;
  lose();
  open();
  await expect.poll(() => ran).toEqual([2]);
});

it('leaves no rejection unhandled of a message that cannot be read while its turn is acquired', async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  const away = new OrionError({ code: 'STORE_UNAVAILABLE', message: 'away', retryable: true });
  const { acquire, begun, open } = gatedAcquire();
  await startRunner({ acquire, turns: { toRun: () => Promise.reject(away) } });
  await begun;
  await new Promise((resolve) => setImmediate(resolve));
  open();
  expect(unhandled).toEqual([]);
});
