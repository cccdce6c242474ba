import { createFakeClock } from '@orion/testkit';
import { expect, it } from 'vitest';

import { startTurns } from '../testing/test-turns.ts';

/** Hazard: a burst of turns begins all at once, waits behind a turn that cannot begin, or is lost with a stop. */

async function startBurst(count: number) {
  const serverClock = createFakeClock();
  const begun: string[] = [];
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const started = await startTurns({
    serverClock,
    slots: 50,
    projects: (orion) => ({
      p: {
        ...orion,
        async *runOwnedTurn({ turnId }, { handOff }) {
          begun.push(turnId);
          const gate = Promise.withResolvers<void>();
          gates.set(turnId, gate);
          await gate.promise;
          yield {
            type: 'phase',
            phase: 'action',
            index: 0,
            seq: 1,
            requestId: turnId,
            conversationId: turnId,
            projectId: 'p',
            phaseIndex: 0,
            cycleIndex: 0,
            protocol: 'standard',
          } as never;
          if (handOff?.aborted !== true)
            await new Promise((resolve) => handOff?.addEventListener('abort', resolve));
        },
      },
    }),
  });
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1)
    ids.push(await started.submit({ conversationId: `c${index}`, projectId: 'p' }));
  return { ...started, serverClock, ids, begun, begin: (id = '') => gates.get(id)?.resolve() };
}

it('has three turns begin at a time, and the next ones at once when they have', async () => {
  const { ids, begun, begin, turns } = await startBurst(8);
  await expect.poll(() => begun).toEqual(ids.slice(0, 3));
  // One has been taken and waits; the others are still for any process.
  expect(turns.waiting().turns).toBe(4);
  for (const [index, id] of ids.entries()) {
    await expect.poll(() => begun).toEqual(ids.slice(0, index + 3));
    begin(id);
  }
  await expect.poll(() => turns.running()).toBe(8);
});

it('does not have a turn wait for others that cannot begin', async () => {
  const { ids, begun, serverClock } = await startBurst(8);
  await expect.poll(() => begun).toHaveLength(3);
  await serverClock.advance(200);
  await expect.poll(() => begun).toHaveLength(6);
  await serverClock.advance(200);
  await expect.poll(() => begun).toEqual(ids);
});

it('gives back what has not begun when the process stops', async () => {
  const { ids, begun, begin, turns, orion, serverClock } = await startBurst(5);
  await expect.poll(() => begun).toHaveLength(3);
  const stopped = turns.stop(0);
  await serverClock.advance(0);
  for (const id of ids) begin(id);
  await stopped;
  expect(begun).toHaveLength(3);
  const { servedTurns } = orion.store;
  for (const id of ids) expect(await servedTurns.find(id)).toMatchObject({ state: 'queued' });
  // It was no attempt, and does not count as one.
  expect(await orion.store.turnLog.epochOf(ids[3] ?? '')).toBe(0);
});
