import { API_KEY_CANARY } from '@orion/testkit';
import { expect, test } from 'vitest';

import { closedPort } from './scripted/byte-server.ts';
import type { Answer } from './scripted/byte-server.ts';
import { namedEvents } from './testing/named-events.ts';
import { FORMATS, createAdapterOf } from './testing/providers.ts';
import { ONCE, QUESTION, collect, serve, sse } from './testing/streams.ts';

const SAID = `key ${API_KEY_CANARY}, ${encodeURIComponent(API_KEY_CANARY)}, Bearer ${API_KEY_CANARY}`;

/** Everything in which a server may repeat the key that it was sent. */
const ANSWERS: readonly (readonly [string, Answer])[] = [
  ['401', { status: 401, pieces: [JSON.stringify({ error: { message: SAID } })] }],
  [
    '400 naming a parameter',
    { status: 400, pieces: [JSON.stringify({ error: { message: SAID, param: SAID } })] },
  ],
  ['a page', { status: 502, pieces: [`<html>${SAID}`] }],
  ['a text', { status: 500, pieces: [SAID] }],
  [
    'a redirect',
    { status: 307, headers: { location: `http://127.0.0.1:1/?key=${API_KEY_CANARY}` }, pieces: [] },
  ],
  ['retry-after', { status: 429, headers: { 'retry-after': SAID }, pieces: ['{}'] }],
  [
    'an error in the stream',
    { pieces: [sse({ error: { message: SAID, code: SAID, type: SAID } })] },
  ],
  [
    'an error event',
    { pieces: [namedEvents({ type: 'error', error: { message: SAID, type: SAID } })] },
  ],
  [
    'a failed response',
    {
      pieces: [
        namedEvents({
          type: 'response.failed',
          response: { error: { message: SAID, code: SAID } },
        }),
      ],
    },
  ],
  ['no JSON', { pieces: [`data: ${SAID} and more\n\n`] }],
  ['an error without JSON', { pieces: [`event: error\ndata: ${SAID} and more\n\n`] }],
  ['a document', { pieces: [JSON.stringify({ error: { message: SAID } })] }],
];

test.for(FORMATS.flatMap((format) => ANSWERS.map(([name, answer]) => ({ format, name, answer }))))(
  'R222: $format: $name: no event contains the key',
  async ({ format, answer }) => {
    const server = await serve(answer);
    const adapter = createAdapterOf(format, {
      baseUrl: server.url,
      apiKey: API_KEY_CANARY,
      retry: ONCE,
    });
    const events = await collect(adapter.sendMessagesStreaming(QUESTION, {}));
    expect(JSON.stringify(server.requests.map(({ headers }) => headers))).toContain(API_KEY_CANARY);
    expect(events.at(-1)?.type).toBe('error');
    expect(JSON.stringify(events)).not.toContain(API_KEY_CANARY);
  },
);

test.for(FORMATS)('R222: %s: nor when no connection can be made', async (format) => {
  const adapter = createAdapterOf(format, {
    baseUrl: `http://127.0.0.1:${await closedPort()}/${API_KEY_CANARY}`,
    apiKey: API_KEY_CANARY,
  });
  const events = await collect(adapter.sendMessagesStreaming(QUESTION, {}));
  expect(events).toMatchObject([{ error: { code: 'PROVIDER_UNREACHABLE' } }]);
  expect(JSON.stringify(events)).not.toContain(API_KEY_CANARY);
});
