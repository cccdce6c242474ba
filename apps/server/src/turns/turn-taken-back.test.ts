import { createOrion } from '@orion/agent';
import type { Orion } from '@orion/agent';
import { systemClock } from '@orion/contracts';
import { expect, it, onTestFinished } from 'vitest';

import { projectsOf } from '../projects.ts';
import { InProcessQueue } from '../queue/in-process-queue.ts';
import { temporaryDirectory } from '../testing/test-server.ts';
import { MESSAGE } from '../testing/test-turns.ts';
import { endTurn } from './turn-end.ts';
import { TurnRunner } from './turn-runner.ts';

/**
 * Hazard: a process that was handed a turn before a failover took back that it was submitted makes another one of its id,
 * which is never over, and whose reader waits for ever.
 */

async function openStore(): Promise<Orion['store']> {
  const orion = await createOrion({ workspace: await temporaryDirectory(), store: 'memory' });
  onTestFinished(() => orion.close());
  return orion.store;
}

it('leaves a turn that nobody has submitted, and takes it for over', async () => {
  const [before, now] = [await openStore(), await openStore()];
  const queue = new InProcessQueue({
    turns: before.servedTurns,
    clock: systemClock,
    perProject: { others: Infinity, projects: new Map() },
    onError: () => undefined,
  });
  const completed: number[] = [];
  const complete = queue.complete.bind(queue);
  queue.complete = (attempt, transaction) => {
    completed.push(attempt.attempt);
    return complete(attempt, transaction);
  };
  const failures: unknown[] = [];
  const runner = new TurnRunner({
    queue,
    turns: now.servedTurns,
    log: now.turnLog,
    projects: projectsOf({
      store: now,
      runOwnedTurn: () => {
        throw new Error('It was run');
      },
    } as unknown as Orion),
    clock: systemClock,
    slots: 1,
    isOverloaded: () => false,
    onEvent: () => undefined,
    onFailure: (_, error) => void failures.push(error),
  });
  runner.start();
  const turn = { ...MESSAGE, turnId: 't', newConversationId: 'c' };
  await before.servedTurns.submit(turn, null, (id, transaction) =>
    queue.submit(id, transaction, turn),
  );
  await expect.poll(() => completed).toEqual([1]);
  await runner.stop(0);
  expect(await now.turnLog.epochOf('t')).toBe(0);
  expect(failures).toEqual([]);
});

it('ends no turn that nobody has submitted', async () => {
  const { turnLog: log } = await openStore();
  const ending = endTurn(
    { log, onEvent: () => undefined },
    { turnId: 't', projectId: 'p', conversationId: 'c', protocol: null },
    { attempt: null, ending: { status: 'stopped' }, complete: () => Promise.resolve(true) },
  );
  await expect(ending).rejects.toMatchObject({ code: 'TURN_NOT_FOUND' });
  expect(await log.epochOf('t')).toBe(0);
});
