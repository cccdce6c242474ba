import { openStore } from '@orion/agent';
import { systemClock } from '@orion/contracts';
import { expect, it, onTestFinished } from 'vitest';

import { cursorOf } from './routes/cursor.ts';
import { makeDatabase } from './testing/test-database.ts';
import { codeOf, startTestServer } from './testing/test-server.ts';
import type { TestServer } from './testing/test-server.ts';

/** Hazard: a text or number that Postgres does not store is answered as if the store were away: clients try for ever. */

async function startOverPostgres(): Promise<TestServer> {
  const store = openStore({ kind: 'postgres', url: await makeDatabase() }, { clock: systemClock });
  onTestFinished(() => store.close());
  return startTestServer({}, { store });
}

it('an id with U+0000 is refused, wherever it is', async () => {
  const { ask } = await startOverPostgres();
  const message = { content: 'hello', conversationId: 'a\u0000b' };
  const verdict = { decision: 'no', hash: 'h\u0000' };
  const answers = await Promise.all([
    ...['turns', 'conversations', 'approvals', 'tool-outputs', 'write-sessions'].map((list) =>
      ask(`/api/${list}/a%00b`),
    ),
    ask('/api/traces?requestId=a%00b'),
    ask('/api/turns?before=a%00b'),
    ask('/api/approvals?turnId=a%00b'),
    ask(`/api/conversations?before=${cursorOf([1, 1, 'a\u0000b'])}`),
    ask(`/api/conversations?before=${cursorOf([1e300, 1, 'a'])}`),
    ask('/api/chat/messages', { json: message }),
    ask('/api/approvals/a', { json: verdict }),
  ]);
  expect(answers.map(({ status, json }) => [status, codeOf(json)])).toEqual(
    answers.map(() => [400, 'REQUEST_INVALID']),
  );
});

it('a reason may have any text, and no turn is as long as a client may say', async () => {
  const { ask } = await startOverPostgres();
  const verdict = { decision: 'no', hash: 'h', reason: 'no\u0000' };
  expect(codeOf((await ask('/api/approvals/a', { json: verdict })).json)).toBe(
    'APPROVAL_NOT_FOUND',
  );
  const headers = { accept: 'application/json' };
  const { json } = await ask('/api/chat/messages', { json: { content: 'hello' }, headers });
  const { turnId } = json as { readonly turnId: string };
  const { text } = await ask(`/api/turns/${turnId}/events?after=3000000000`, {
    headers: { accept: 'text/event-stream' },
  });
  expect(text).toMatch(/^event: reset\n/mu);
});
