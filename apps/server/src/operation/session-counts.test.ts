// Whoever asks for a status or for metrics costs little, however many sessions are stored and however often it asks.
import { createOrion } from '@orion/agent';
import { createFakeClock } from '@orion/testkit';
import { expect, it, onTestFinished } from 'vitest';

import { temporaryDirectory } from '../testing/test-server.ts';
import { countSessions } from './session-counts.ts';

it('counts once for all who ask, and then not for twenty times as long as that took', async () => {
  const orion = await createOrion({ workspace: await temporaryDirectory(), store: 'memory' });
  onTestFinished(() => orion.close());
  await orion.writeSessions.begin({ intent: 'Try.', target_file: 'a.md', operation: 'create' });
  const clock = createFakeClock();
  let looks = 0;
  let takesMs = 100;
  const slow = {
    async listSessions() {
      looks += 1;
      const found = await orion.listSessions();
      await clock.advance(takesMs);
      return found;
    },
  };
  const counts = countSessions([slow], clock);
  const [one, other] = await Promise.all([counts(), counts()]);
  expect(one).toEqual({ byStatus: new Map([['live', 1]]), unfinished: 0 });
  expect(other).toBe(one);
  await clock.advance(1_999);
  await counts();
  expect(looks).toBe(1);
  takesMs = 0;
  await clock.advance(1);
  await counts();
  expect(looks).toBe(2);
  await clock.advance(499);
  await counts();
  expect(looks).toBe(2);
  await clock.advance(1);
  await counts();
  expect(looks).toBe(3);
});

it('asks again after a look that failed', async () => {
  const clock = createFakeClock();
  let isAway = true;
  const listSessions = async (): Promise<never[]> => {
    if (!isAway) return [];
    await clock.advance(5_000);
    throw new Error('away');
  };
  const counts = countSessions([{ listSessions }], clock);
  await expect(counts()).rejects.toThrow('away');
  isAway = false;
  await clock.advance(500);
  expect(await counts()).toEqual({ byStatus: new Map(), unfinished: 0 });
});
