import { randomUUID } from 'node:crypto';

import { createOrion } from '@orion/agent';
import type { OwnedTurnRequest } from '@orion/agent';
import { createFakeClock } from '@orion/testkit';
import { expect, it, onTestFinished } from 'vitest';

import { projectsOf } from '../projects.ts';
import { InProcessQueue } from '../queue/in-process-queue.ts';
import { temporaryDirectory } from '../testing/test-server.ts';
import { MESSAGE } from '../testing/test-turns.ts';
import { TurnRunner } from './turn-runner.ts';

/** Hazard: a turn that waits for a person keeps others waiting, or its process from stopping. */

/** The turns do nothing until they are handed off. */
async function startRunner() {
  const orion = await createOrion({ workspace: await temporaryDirectory(), store: 'memory' });
  const { servedTurns: turns, turnLog: log } = orion.store;
  const clock = createFakeClock();
  const queue = new InProcessQueue({
    turns,
    clock,
    perProject: { others: Infinity, projects: new Map() },
    onError: () => undefined,
  });
  const begun: OwnedTurnRequest[] = [];
  const runner = new TurnRunner({
    queue,
    turns,
    log,
    projects: projectsOf({
      ...orion,
      async *runOwnedTurn(_claim, request) {
        begun.push(request);
        yield* [];
        await new Promise((resolve) => request.handOff?.addEventListener('abort', resolve));
      },
    }),
    clock,
    slots: 1,
    isOverloaded: () => false,
    onEvent: () => undefined,
    onFailure: () => undefined,
  });
  runner.start();
  onTestFinished(async () => {
    const stopped = runner.stop(0);
    await clock.advance(10_000);
    await stopped;
    await orion.close();
  });
  const submit = async (idleAttempts = 0): Promise<void> => {
    const ids = { turnId: randomUUID(), newConversationId: randomUUID() };
    const turn = { ...MESSAGE, ...ids, conversationId: randomUUID() };
    await turns.submit(turn, null, async (id, transaction) => {
      const sql = 'update turn set idle_attempts = $2 where turn_id = $1';
      await transaction.all(sql, [id, idleAttempts]);
      await queue.submit(id, transaction, turn);
    });
  };
  return { runner, clock, begun, submit };
}

it('takes no slot from when it begins to wait until it goes on', async () => {
  const { runner, clock, begun, submit } = await startRunner();
  await submit();
  await expect.poll(() => begun).toHaveLength(1);
  await submit();
  await clock.advance(1_000);
  expect([begun.length, runner.resting()]).toEqual([1, 0]);
  begun[0]?.onRest?.(true);
  expect(runner.resting()).toBe(1);
  await clock.advance(1_000);
  await expect.poll(() => begun).toHaveLength(2);
  expect(begun[0]?.handOff?.aborted).toBe(false);
  begun[0]?.onRest?.(false);
  expect(runner.resting()).toBe(0);
});

it('is given back if it begins to wait while its process stops', async () => {
  const { runner, begun, submit } = await startRunner();
  await submit();
  await expect.poll(() => begun).toHaveLength(1);
  const stopped = runner.stop(30_000);
  expect(begun[0]?.handOff?.aborted).toBe(false);
  begun[0]?.onRest?.(true);
  expect(begun[0]?.handOff?.aborted).toBe(true);
  await stopped;
});

it('does not wait alone', async () => {
  const { begun, submit } = await startRunner();
  // Its processes have died twice, and it is tried alone.
  await submit(2);
  await expect.poll(() => begun).toHaveLength(1);
  begun[0]?.onRest?.(true);
  expect(begun[0]?.handOff?.aborted).toBe(true);
});
