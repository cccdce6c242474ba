/** Hazard: a client whose request the store did not answer is given the next step of somebody else. */
import { createOrion } from '@orion/agent';
import { OrionError } from '@orion/contracts';
import { expect, it } from 'vitest';

import { startTestServer, temporaryDirectory } from '../testing/test-server.ts';

it.each([
  [true, expect.stringMatching(/send the request again.*the same Idempotency-Key/iu), '1'],
  [false, 'Check the database and DATABASE_URL.', undefined],
])('a store that is away (to be asked again: %s)', async (retryable, hint, retryAfter) => {
  const { store } = await createOrion({ workspace: await temporaryDirectory(), store: 'memory' });
  let isAway = false;
  const away = new OrionError({ code: 'STORE_UNAVAILABLE', message: 'cut off', retryable });
  const conversations: typeof store.conversations = {
    ...store.conversations,
    list: (filter) => (isAway ? Promise.reject(away) : store.conversations.list(filter)),
  };
  const { ask } = await startTestServer({}, { store: { ...store, conversations } });
  isAway = true;
  const { status, json, headers } = await ask('/api/conversations');
  const error = { code: 'STORE_UNAVAILABLE', message: 'cut off', hint };
  expect([status, json, headers['retry-after']]).toEqual([503, { error }, retryAfter]);
});
