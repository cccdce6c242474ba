import { createOrion } from '@orion/agent';
import { OrionError, systemClock } from '@orion/contracts';
import { expect, it, onTestFinished } from 'vitest';

import { projectsOf } from '../projects.ts';
import { InProcessQueue } from '../queue/in-process-queue.ts';
import { temporaryDirectory } from '../testing/test-server.ts';
import { MESSAGE } from '../testing/test-turns.ts';
import { TurnRunner } from './turn-runner.ts';

/** Hazard: a turn is taken for one that its processes die of, because answers of the store were lost. */

it('acquires a turn again whose owner it became without an answer, as the same attempt', async () => {
  const root = await temporaryDirectory();
  const orion = await createOrion({ workspace: root, store: 'memory' });
  onTestFinished(() => orion.close());
  const { servedTurns: turns, turnLog: log } = orion.store;
  const attempts: (number | null)[] = [];
  const idle: number[] = [];
  const begun = Promise.withResolvers<void>();
  const runner = new TurnRunner({
    queue: new InProcessQueue({
      turns,
      clock: systemClock,
      perProject: { others: Infinity, projects: new Map() },
      onError: () => undefined,
    }),
    turns,
    log: {
      finish: (...end) => log.finish(...end),
      read: (...place) => log.read(...place),
      async acquire(turnId, attempt) {
        attempts.push(attempt);
        const claim = await log.acquire(turnId, attempt);
        if (attempts.length > 1) return claim;
        throw new OrionError({ code: 'STORE_UNAVAILABLE', message: 'cut', retryable: true });
      },
    },
    projects: projectsOf({
      ...orion,
      async *runOwnedTurn({ idleAttempts }, { handOff }) {
        idle.push(idleAttempts);
        begun.resolve();
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
  await turns.submit({ ...MESSAGE, turnId: 't', newConversationId: 'c' }, null, () =>
    Promise.resolve(),
  );
  runner.start();
  await begun.promise;
  await runner.stop(0);
  expect([attempts, idle]).toEqual([[1, 1], [1]]);
});
