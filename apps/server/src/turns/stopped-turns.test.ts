import { createOrion } from '@orion/agent';
import { systemClock } from '@orion/contracts';
import { expect, it, onTestFinished } from 'vitest';

import { projectsOf } from '../projects.ts';
import { InProcessQueue } from '../queue/in-process-queue.ts';
import { temporaryDirectory } from '../testing/test-server.ts';
import { MESSAGE } from '../testing/test-turns.ts';
import { TurnRunner } from './turn-runner.ts';

/** Hazard: a turn begins behind the back of a stop, and runs in a process that has given up its store. */

it('gives a turn back that was being acquired when the others were handed off', async () => {
  const root = await temporaryDirectory();
  const orion = await createOrion({ workspace: root, store: 'memory' });
  onTestFinished(() => orion.close());
  const { servedTurns: turns, turnLog: log } = orion.store;
  const acquiring = Promise.withResolvers<void>();
  const acquired = Promise.withResolvers<void>();
  let runs = 0;
  const queue = new InProcessQueue({ turns, clock: systemClock, onError: () => undefined });
  const runner = new TurnRunner({
    queue,
    turns,
    log: {
      finish: (...end) => log.finish(...end),
      read: (...place) => log.read(...place),
      async acquire(turnId, attempt) {
        acquiring.resolve();
        await acquired.promise;
        return log.acquire(turnId, attempt);
      },
    },
    projects: projectsOf({
      ...orion,
      async *runOwnedTurn(_claim, { handOff }) {
        runs += 1;
        yield* [];
        await new Promise((resolve) => handOff?.addEventListener('abort', resolve));
      },
    }),
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
