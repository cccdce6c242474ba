import { expect, test, vi } from 'vitest';

import { MESSAGE_START, MESSAGE_STOP, messageEnd, namedEvents } from '../testing/named-events.ts';
import { QUESTION, collect, serve } from '../testing/streams.ts';
import { createAnthropicAdapter } from './adapter.ts';

const EMPTY = namedEvents(MESSAGE_START, messageEnd('end_turn'), MESSAGE_STOP);

test('nothing of the environment reaches a request', async () => {
  vi.stubEnv('ANTHROPIC_API_KEY', 'sk-canary');
  vi.stubEnv('ANTHROPIC_AUTH_TOKEN', 'canary');
  vi.stubEnv('ANTHROPIC_BASE_URL', 'http://127.0.0.1:9');
  vi.stubEnv('ANTHROPIC_PROFILE', 'canary');
  vi.stubEnv('ANTHROPIC_CUSTOM_HEADERS', 'X-Canary: canary\nX-Api-Key: sk-canary');
  vi.stubEnv('ANTHROPIC_WEBHOOK_SIGNING_KEY', 'canary');
  vi.stubEnv('ANTHROPIC_LOG', 'debug');
  const printed = [vi.spyOn(console, 'debug'), vi.spyOn(console, 'log'), vi.spyOn(console, 'warn')];

  const server = await serve(EMPTY);
  for (const apiKey of [undefined, 'own']) {
    const adapter = createAnthropicAdapter({
      // The SDK has a warning for it.
      model: 'claude-sonnet-4-5',
      baseUrl: server.url,
      ...(apiKey === undefined ? {} : { apiKey }),
    });
    expect(await collect(adapter.sendMessagesStreaming(QUESTION, {}))).toMatchObject([
      { type: 'usage' },
      { type: 'finish', reason: 'stop' },
    ]);
  }

  const [without, withKey] = server.requests;
  expect(JSON.stringify(server.requests)).not.toContain('canary');
  expect(without?.headers['anthropic-version']).toBe('2023-06-01');
  expect(without?.headers).not.toHaveProperty('x-api-key');
  expect(without?.headers).not.toHaveProperty('authorization');
  expect(withKey?.headers['x-api-key']).toBe('own');
  expect(withKey?.headers['authorization']).toBe('Bearer own');
  for (const spy of printed) expect(spy).not.toHaveBeenCalled();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

test('a base URL is given with its version, without it, or with a slash', async () => {
  const server = await serve(EMPTY);
  const bare = server.url.replace(/\/v1$/u, '');
  for (const baseUrl of [bare, `${bare}/`, server.url, `${server.url}/`, `${bare}/anthropic`]) {
    const adapter = createAnthropicAdapter({ model: 'm', baseUrl });
    await collect(adapter.sendMessagesStreaming(QUESTION, {}));
  }
  expect(server.requests.map(({ path }) => path)).toEqual([
    ...Array(4).fill('/v1/messages'),
    '/anthropic/v1/messages',
  ]);
});
