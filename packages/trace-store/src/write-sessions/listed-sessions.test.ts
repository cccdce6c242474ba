import { randomUUID } from 'node:crypto';
import { createFakeClock } from '@orion/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../open-store.ts';
import { useTestDatabase } from '../testing/test-database.ts';

/** Hazard: a list of sessions, which metrics ask for, reads every conversation behind them. */

const own = useTestDatabase();

test('a list leaves out what the model and its user have said; one session has it', async () => {
  const store = openStore({ kind: 'postgres', url: own.url() }, { clock: createFakeClock() });
  onTestFinished(() => store.close());
  const { sessionContent: content } = store;
  if (content === null) throw new Error('a store in Postgres has sessions');
  const sessionId = randomUUID();
  const turn = JSON.stringify({ messages: ['x'.repeat(1_000)] });
  const records = { metadata: '{}', state: '{}', turn };
  await content.begin({ sessionId, root: '/w', targetKey: 'a', records, fence: null });
  expect(await content.list('/w')).toMatchObject([{ sessionId, metadata: '{}', turn: null }]);
  expect(await content.list('/w', [sessionId])).toMatchObject([{ sessionId, turn: null }]);
  expect(await content.find('/w', sessionId)).toMatchObject({ sessionId, turn });
});
