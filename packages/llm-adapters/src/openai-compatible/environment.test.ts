import { expect, test, vi } from 'vitest';

import { DONE, ask, serve, sse } from '../testing/streams.ts';

test('nothing of the environment reaches a request', async () => {
  const unreachable = 'http://127.0.0.1:9/v1';
  vi.stubEnv('OPENAI_API_KEY', 'sk-canary');
  vi.stubEnv('OPENAI_ADMIN_KEY', 'sk-canary');
  vi.stubEnv('OPENAI_BASE_URL', unreachable);
  vi.stubEnv('OPENAI_ORG_ID', 'canary');
  vi.stubEnv('OPENAI_PROJECT_ID', 'canary');
  vi.stubEnv('OPENAI_WEBHOOK_SECRET', 'canary');
  vi.stubEnv('OPENAI_CUSTOM_HEADERS', 'X-Canary: canary\nAuthorization: Bearer sk-canary');
  vi.stubEnv('OPENAI_LOG', 'debug');
  const printed = [vi.spyOn(console, 'debug'), vi.spyOn(console, 'log'), vi.spyOn(console, 'warn')];

  const server = await serve(sse(DONE));
  await ask(server);
  await ask(server, {}, { apiKey: 'own' });

  const [without, withKey] = server.requests;
  expect(JSON.stringify(server.requests)).not.toContain('canary');
  expect(without?.headers).not.toHaveProperty('authorization');
  expect(withKey?.headers['authorization']).toBe('Bearer own');
  for (const headers of server.requests.map((request) => request.headers)) {
    expect(Object.keys(headers)).not.toContain('openai-organization');
    expect(Object.keys(headers)).not.toContain('openai-project');
  }
  for (const spy of printed) expect(spy).not.toHaveBeenCalled();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

test('a base URL may end in a slash', async () => {
  const server = await serve(sse(DONE));
  await ask(server, {}, { baseUrl: `${server.url}/` });
  await ask(server, {}, { baseUrl: server.url });
  expect(server.requests.map((request) => request.path)).toEqual([
    '/v1/chat/completions',
    '/v1/chat/completions',
  ]);
});
