// B8: whoever has no token gets nothing out of `orion serve`, however it is asked.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { serve, SERVER_TOKEN as TOKEN, sharedServer, told, toldOf } from './support/serve.ts';
import type { HttpQuestion } from './support/serve.ts';
import { test } from './support/test.ts';
import { waitFor } from './support/wait.ts';

describe('what is sent as a token (B8)', () => {
  const server = sharedServer();

  it.each<[string, HttpQuestion, string]>([
    ['nothing', { token: null }, '401 UNAUTHORIZED'],
    ['another token', { token: 'another-token-of-the-tests-01234' }, '401 UNAUTHORIZED'],
    ['the token and one more letter', { token: `${TOKEN}x` }, '401 UNAUTHORIZED'],
    ['all of the token but its end', { token: TOKEN.slice(0, -1) }, '401 UNAUTHORIZED'],
    ['the token in capitals', { token: TOKEN.toUpperCase() }, '401 UNAUTHORIZED'],
    ['an empty token', { token: '' }, '401 UNAUTHORIZED'],
    ['a token of 8 KiB', { token: 'x'.repeat(8192) }, '401 UNAUTHORIZED'],
    ['the token twice', { token: `${TOKEN}, Bearer ${TOKEN}` }, '401 UNAUTHORIZED'],
    [
      'the token without a scheme',
      { token: null, headers: { authorization: TOKEN } },
      '401 UNAUTHORIZED',
    ],
    [
      'the token as a password',
      { token: null, headers: { authorization: `Basic ${btoa(`orion:${TOKEN}`)}` } },
      '401 UNAUTHORIZED',
    ],
    [
      'the token as a cookie',
      { token: null, headers: { cookie: `token=${TOKEN}` } },
      '401 UNAUTHORIZED',
    ],
    [
      'the token in X-Api-Key',
      { token: null, headers: { 'x-api-key': TOKEN } },
      '401 UNAUTHORIZED',
    ],
    [
      'the token for a proxy',
      { token: null, headers: { 'proxy-authorization': `Bearer ${TOKEN}` } },
      '401 UNAUTHORIZED',
    ],
    ['the token', {}, '200'],
    [
      'the token, its scheme in lower case',
      { token: null, headers: { authorization: `bearer ${TOKEN}` } },
      '200',
    ],
  ])('%s', async (_what, question, answer) => {
    expect(told(await server().ask('/metrics', question))).toBe(answer);
  });

  it.each(['token', 'access_token', 'key', 'authorization', 'Authorization'])(
    'the token in the URL, as %s: 401, and the log does not have it',
    async (name) => {
      const answer = await server().ask(`/metrics?${name}=${TOKEN}`, { token: null });
      expect(told(answer)).toBe('401 UNAUTHORIZED');
      expect((await server().ask(`/${TOKEN}`, { token: null })).status).toBe(401);
      expect(server().running.stderr()).not.toContain(TOKEN);
    },
  );

  it('two headers with it: neither is taken', async () => {
    const { port, send } = server();
    const twice = `Authorization: Bearer ${TOKEN}\r\nAuthorization: Bearer no\r\n`;
    const answer = await send(
      `GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${twice}Connection: close\r\n\r\n`,
    );
    expect(toldOf(answer)).toEqual(['400 REQUEST_INVALID']);
  });

  it('a refusal says how, and not what was wrong', async () => {
    const { headers, text } = await server().ask('/metrics', { token: 'no' });
    expect(headers['www-authenticate']).toBe('Bearer');
    expect(headers['cache-control']).toBe('no-store');
    expect(text).not.toContain('no"');
  });

  // The last one here: it uses up what may be refused in a second.
  it('nothing, to each route of the document, in each method: 401, but for those that are open', async () => {
    const { ask } = server();
    const { json } = await ask('/openapi.json', { token: null });
    const { paths } = json as { readonly paths: Readonly<Record<string, object>> };
    const asked = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({
        method: method.toUpperCase(),
        path: path.replaceAll(/\{\w+\}/gu, 'x'),
      })),
    );
    expect(asked.length).toBeGreaterThan(5);
    const open: string[] = [];
    for (const { method, path } of asked) {
      const answer = await waitFor('an answer that is not about too many', async () => {
        const found = await ask(path, { method, token: null });
        return found.status === 429 ? null : found;
      });
      if (told(answer) !== '401 UNAUTHORIZED') open.push(`${method} ${path}`);
    }
    expect(open.toSorted()).toEqual([
      'GET /docs',
      'GET /health/live',
      'GET /health/ready',
      'GET /openapi.json',
      // What takes the place of the token is in their body.
      'POST /api/page/challenge',
      'POST /api/page/sessions',
    ]);
  });
});

describe('who guesses (B8, B28)', () => {
  const server = sharedServer();

  it('is slowed down, and does not slow down who has the token', async () => {
    const { ask } = server();
    const guesses = await Promise.all(
      Array.from({ length: 100 }, (_, index) => ask('/metrics', { token: `guess-${index}` })),
    );
    const answers = new Set(guesses.map(told));
    expect(answers).toEqual(new Set(['401 UNAUTHORIZED', '429 RATE_LIMITED']));
    expect(guesses.find(({ status }) => status === 429)?.headers['retry-after']).toBe('1');
    expect((await ask('/metrics')).status).toBe(200);
  });
});

test.concurrent('no file that others can read has the token (R286)', async ({ machine }) => {
  const made = await serve(machine, [], { env: { ORION_SERVER_TOKEN: '' } });
  const token = (await readFile(machine.path('.orion/server/token'), 'utf8')).trim();
  await made.ask('/api/conversations', { token });
  made.running.kill('SIGTERM');
  await made.running.finished;
  for (const file of ['orion.db', 'server/server.json'])
    expect(String(await machine.find(join('.orion', file)))).not.toContain(token);
});
