import { OrionError } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { expect, it } from 'vitest';

import { doneOf, startTurns } from '../testing/test-turns.ts';

/** Hazard: a turn that hangs goes on for nobody, and keeps asking a store that is too slow already. */

it('asks no more for the history of a turn that was cancelled and did not end by itself', async () => {
  const { orion, root } = await startTurns();
  let loads = 0;
  const away = new OrionError({ code: 'STORE_UNAVAILABLE', message: 'away', retryable: true });
  const conversations = {
    ...orion.store.conversations,
    load: () => {
      loads += 1;
      return Promise.reject(away);
    },
  };
  const [clock, serverClock] = [createFakeClock(), createFakeClock()];
  const store = { ...orion.store, conversations };
  const { turns, submit, ended } = await startTurns({ root, store, clock, serverClock });
  const turnId = await submit({ conversationId: 'c' });
  await expect.poll(() => loads).toBe(1);
  await clock.advance(1_000);
  await expect.poll(() => loads).toBeGreaterThan(1);
  await turns.service.cancel(turnId);
  await serverClock.advance(20_000);
  expect(doneOf(await ended(turnId))).toMatchObject({ status: 'stopped' });
  await clock.advance(2_000);
  const before = loads;
  await clock.advance(60_000);
  expect(loads).toBe(before);
});
