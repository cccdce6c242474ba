import { createOrion } from '@orion/agent';
import type { Orion } from '@orion/agent';
import { systemClock } from '@orion/contracts';
import { expect, it, onTestFinished } from 'vitest';

import { projectsOf } from '../projects.ts';
import { InProcessQueue } from '../queue/in-process-queue.ts';
import { temporaryDirectory } from '../testing/test-server.ts';
import { MESSAGE } from '../testing/test-turns.ts';
import { TurnRunner } from './turn-runner.ts';

/** Hazard: a turn begins behind the back of a stop, or is not given back by it. */

/** A turn that runs until it is handed off. */
const waiting = (onBegun: () => void): Pick<Orion, 'runOwnedTurn'> => ({
  async *runOwnedTurn(_claim, { handOff }) {
    onBegun();
    yield* [];
    await new Promise((resolve) => handOff?.addEventListener('abort', resolve));
  },
});

it('gives a turn back that was being acquired when the others were handed off', async () => {
  const root = await temporaryDirectory();
  const orion = await createOrion({ workspace: root, store: 'memory' });
  onTestFinished(() => orion.close());
  const { servedTurns: turns, turnLog: log } = orion.store;
  const acquiring = Promise.withResolvers<void>();
  const acquired = Promise.withResolvers<void>();
  let runs = 0;
  const queue = new InProcessQueue({
    turns,
    clock: systemClock,
    perProject: { others: Infinity, projects: new Map() },
    onError: () => undefined,
  });
  const runner = new TurnRunner({
    queue,
    turns,
    log: {
      finish: (...end) => log.finish(...end),
      read: (...place) => log.read(...place),
      async acquire(...which) {
        acquiring.resolve();
        await acquired.promise;
        return log.acquire(...which);
      },
    },
    projects: projectsOf({ ...orion, ...waiting(() => (runs += 1)) }),
    clock: systemClock,
    slots: 1,
    isOverloaded: () => false,
    onEvent: () => undefined,
    onFailure: () => undefined,
  });
  runner.start();
  const turnId = 't';
  const turn = { ...MESSAGE, turnId, newConversationId: 'c' };
  await turns.submit(turn, null, (id, transaction) => queue.submit(id, transaction, turn));
  await acquiring.promise;
  const stopped = runner.stop(0);
  await new Promise((resolve) => setTimeout(resolve, 20));
  acquired.resolve();
  await stopped;
  expect([runs, runner.running()]).toEqual([0, 0]);
  expect(await turns.find(turnId)).toMatchObject({ state: 'queued' });
});

it('gives a turn back before the store has answered that nobody has it', async () => {
  const root = await temporaryDirectory();
  const orion = await createOrion({ workspace: root, store: 'memory' });
  onTestFinished(() => orion.close());
  const { servedTurns: turns, turnLog: log } = orion.store;
  const begun = Promise.withResolvers<void>();
  const givenBack = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const queue = new InProcessQueue({
    turns,
    clock: systemClock,
    perProject: { others: Infinity, projects: new Map() },
    onError: () => undefined,
  });
  const giveBack = queue.giveBack.bind(queue);
  queue.giveBack = (...attempt) => {
    givenBack.resolve();
    return giveBack(...attempt);
  };
  const runner = new TurnRunner({
    queue,
    turns: { ...turns, release: () => answered.promise },
    log,
    projects: projectsOf({ ...orion, ...waiting(() => begun.resolve()) }),
    clock: systemClock,
    slots: 1,
    isOverloaded: () => false,
    onEvent: () => undefined,
    onFailure: () => undefined,
  });
  runner.start();
  const turn = { ...MESSAGE, turnId: 't', newConversationId: 'c' };
  await turns.submit(turn, null, (id, transaction) => queue.submit(id, transaction, turn));
  await begun.promise;
  const stopped = runner.stop(0);
  await givenBack.promise;
  answered.resolve();
  await stopped;
});
