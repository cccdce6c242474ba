import { createOrion } from '@orion/agent';
import { createFakeAdapter, createFakeClock, textReply } from '@orion/testkit';
import type { FakeReply } from '@orion/testkit';
import { expect, it, onTestFinished } from 'vitest';

import { DEFAULT_LIMITS } from '../limits.ts';
import { createLog } from '../operation/request-log.ts';
import { projectsOf } from '../projects.ts';
import { temporaryDirectory } from '../testing/test-server.ts';
import { MESSAGE, startTurns } from '../testing/test-turns.ts';
import { openTurns } from './open-turns.ts';

/** Hazard: a store or a process that is slow already is given more and more turns. */

it('begins no turn while appends take longer than a second, and begins it then', async () => {
  const adapter = createFakeAdapter([textReply('one')]);
  const workspace = await temporaryDirectory();
  const orion = await createOrion({ workspace, store: 'memory', adapter });
  onTestFinished(() => orion.close());
  const clock = createFakeClock();
  let appendMs = 1_001;
  const turns = await openTurns({
    orion: { store: { ...orion.store, appendMs: () => appendMs } },
    projects: projectsOf(orion),
    limits: DEFAULT_LIMITS,
    clock,
    eventLoopDelayMs: () => 0,
    log: createLog({ write: () => undefined }, 'test'),
    onEvent: () => undefined,
    isStopping: () => false,
  });
  onTestFinished(async () => {
    await turns.stop(0);
    await turns.hold.release();
  });
  turns.start();
  const { turn } = await turns.service.submit(MESSAGE, null);
  const state = async () => (await turns.service.find(turn.turnId))?.state;
  for (let looks = 0; looks < 4; looks += 1) {
    await clock.advance(250);
    expect([await state(), turns.waiting().turns]).toEqual(['queued', 1]);
  }
  appendMs = 1_000;
  await clock.advance(250);
  await expect.poll(state).toBe('done');
  appendMs = 1_001;
  await turns.service.submit({ ...MESSAGE, content: 'r' }, null);
  await turns.stop(0);
  expect([clock.pending(), turns.waiting().turns]).toEqual([0, 1]);
});

it('begins no turn beside another while the process is late, but always one', async () => {
  const gates = [1, 2, 3].map(() => Promise.withResolvers<void>());
  const replies = gates.map(
    ({ promise }): FakeReply =>
      async function* () {
        await promise;
        yield* textReply('said');
      },
  );
  const serverClock = createFakeClock();
  let eventLoopDelayMs = 101;
  const { submit, turns, adapter, ended } = await startTurns({
    replies,
    serverClock,
    eventLoopDelayMs: () => eventLoopDelayMs,
  });
  const ids = [];
  for (const conversationId of ['a', 'b', 'c']) ids.push(await submit({ conversationId }));
  const expectRunning = async (requests: number, waiting: number): Promise<void> => {
    await expect.poll(() => adapter.requests.length).toBe(requests);
    await serverClock.advance(1_000);
    expect([adapter.requests.length, turns.waiting().turns]).toEqual([requests, waiting]);
  };
  await expectRunning(1, 2);
  gates[0]?.resolve();
  await ended(ids[0] ?? '');
  await expectRunning(2, 1);
  eventLoopDelayMs = 100;
  await serverClock.advance(250);
  await expectRunning(3, 0);
  for (const { resolve } of gates) resolve();
  for (const id of ids) await ended(id);
});
