// Who may talk to the server (B8–B13): each row says what was tried and what came back.
import { createFakeAdapter, textReply } from '@orion/testkit';
import { describe, expect, it } from 'vitest';

import {
  codeOf,
  parseAnswer,
  startTestServer,
  temporaryDirectory,
  TOKEN,
  type AskOptions,
  type TestServer,
} from './testing/test-server.ts';

/** One request, as `status CODE`. */
async function tried({ ask }: TestServer, path: string, options: AskOptions): Promise<string> {
  const { status, json } = await ask(path, options);
  return `${status} ${codeOf(json)}`.trim();
}

describe('the token (B8, R286)', () => {
  it.each<[string, AskOptions, string]>([
    ['none', { token: null }, '401 UNAUTHORIZED'],
    ['another one', { token: `${TOKEN}x` }, '401 UNAUTHORIZED'],
    ['a shorter one', { token: TOKEN.slice(0, -1) }, '401 UNAUTHORIZED'],
    ['an empty one', { token: '' }, '401 UNAUTHORIZED'],
    [
      'as a password',
      { token: null, headers: { authorization: `Basic ${btoa(`:${TOKEN}`)}` } },
      '401 UNAUTHORIZED',
    ],
    ['without a scheme', { token: null, headers: { authorization: TOKEN } }, '401 UNAUTHORIZED'],
    ['as a cookie', { token: null, headers: { cookie: `token=${TOKEN}` } }, '401 UNAUTHORIZED'],
    ['the right one', {}, '200'],
    ['in lower case', { token: null, headers: { authorization: `bearer ${TOKEN}` } }, '200'],
  ])('%s', async (_name, options, expected) => {
    const server = await startTestServer();
    expect(await tried(server, '/metrics', options)).toBe(expected);
  });

  it('is not taken from a URL', async () => {
    const server = await startTestServer();
    for (const name of ['token', 'access_token', 'authorization'])
      expect(await tried(server, `/metrics?${name}=${TOKEN}`, { token: null })).toBe(
        '401 UNAUTHORIZED',
      );
  });

  it('is asked for by every route and every method, whether it exists or not', async () => {
    const server = await startTestServer();
    for (const path of ['/', '/api/turns', '/api/none', '/metrics', '/health', '/health/live/x'])
      for (const method of ['GET', 'POST', 'PUT', 'DELETE'])
        expect([path, method, await tried(server, path, { method, token: null })]).toEqual([
          path,
          method,
          '401 UNAUTHORIZED',
        ]);
    expect(await tried(server, '/health/live', { method: 'POST', token: null })).toBe(
      '401 UNAUTHORIZED',
    );
    expect(await tried(server, '/health/live', { token: null })).toBe('200');
    expect(await tried(server, '/health/ready', { token: null })).toBe('200');
  });

  it('is needed to listen on another address than loopback', async () => {
    for (const host of ['0.0.0.0', '::', '192.0.2.1'])
      await expect(startTestServer({ host, token: undefined as never })).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining('ORION_SERVER_TOKEN'),
      });
    const { server, ask } = await startTestServer({ host: '0.0.0.0' });
    expect(server.keptToken).toBeNull();
    expect((await ask('/metrics')).status).toBe(200);
  });

  it('is kept by the state directory where none is given', async () => {
    const options = { userDirectory: await temporaryDirectory() };
    const { server, ask } = await startTestServer({ token: undefined as never }, options);
    const { token, isNew, path } = server.keptToken ?? {};
    expect([isNew, path?.endsWith('/.orion/server/token')]).toEqual([true, true]);
    expect((await ask('/metrics', { token: token ?? '' })).status).toBe(200);
    expect((await ask('/metrics')).status).toBe(401);
  });
});

describe('the name of the host (B9)', () => {
  it.each([
    ['127.0.0.1:PORT', 200],
    ['localhost:PORT', 200],
    ['LOCALHOST:PORT', 200],
    ['[::1]:PORT', 200],
    ['orion.example', 200],
    ['orion.example:PORT', 200],
    ['other.example:8443', 200],
    ['other.example', 403],
    ['orion.example:1', 403],
    ['evil.com', 403],
    ['evil.com:PORT', 403],
    ['localhost.evil.com:PORT', 403],
    ['127.0.0.1.nip.io:PORT', 403],
    ['127.0.0.1', 403],
    ['127.0.0.1:1', 403],
    ['127.0.0.1:PORT.evil.com', 403],
    ['127.0.0.1:PORT@evil.com', 403],
    ['evil.com#127.0.0.1:PORT', 403],
    ['0.0.0.0:PORT', 403],
    ['', 403],
  ])('%s: %i', async (host, status) => {
    const { port, send } = await startTestServer({
      allowHosts: ['Orion.example', 'other.example:8443'],
    });
    const answer = parseAnswer(
      await send(
        `GET /metrics HTTP/1.1\r\nHost: ${host.replace('PORT', String(port))}\r\n` +
          `Authorization: Bearer ${TOKEN}\r\nConnection: close\r\n\r\n`,
      ),
    );
    expect(answer.status).toBe(status);
    if (status === 403) expect(codeOf(JSON.parse(answer.body))).toBe('HOST_NOT_ALLOWED');
  });

  it.each<[string, (host: string) => string, number, string]>([
    ['none', () => 'GET /metrics HTTP/1.1\r\n', 403, 'HOST_NOT_ALLOWED'],
    ['none, in HTTP/1.0', () => 'GET /metrics HTTP/1.0\r\n', 403, 'HOST_NOT_ALLOWED'],
    [
      'the right one, but no version of HTTP',
      (host) => `GET /metrics\r\nHost: ${host}\r\n`,
      400,
      'REQUEST_INVALID',
    ],
    [
      'two, the first of them right',
      (host) => `GET /metrics HTTP/1.1\r\nHost: ${host}\r\nHost: evil.com\r\n`,
      400,
      'REQUEST_INVALID',
    ],
    [
      'two, the last of them right',
      (host) => `GET /metrics HTTP/1.1\r\nHost: evil.com\r\nHost: ${host}\r\n`,
      400,
      'REQUEST_INVALID',
    ],
    [
      'a request line with a URL',
      (host) => `GET http://evil.com/metrics HTTP/1.1\r\nHost: ${host}\r\n`,
      400,
      'REQUEST_INVALID',
    ],
    [
      'a request line with another host after slashes',
      (host) => `GET //evil.com/metrics HTTP/1.1\r\nHost: ${host}\r\n`,
      400,
      'REQUEST_INVALID',
    ],
    [
      'the right one, and a path with a backslash',
      (host) => `GET /api\\conversations HTTP/1.1\r\nHost: ${host}\r\n`,
      400,
      'REQUEST_INVALID',
    ],
  ])('%s', async (_name, head, status, code) => {
    const { port, send } = await startTestServer();
    const text = await send(
      `${head(`127.0.0.1:${port}`)}Authorization: Bearer ${TOKEN}\r\nConnection: close\r\n\r\n`,
    );
    const answer = parseAnswer(text);
    expect([answer.status, codeOf(JSON.parse(answer.body))]).toEqual([status, code]);
  });
});

describe('the origin of a page (B10)', () => {
  it.each([
    ['http://127.0.0.1:PORT', 404],
    ['http://localhost:PORT', 404],
    ['https://orion.example', 404],
    ['http://orion.example', 404],
    ['https://localhost:PORT', 403],
    ['http://localhost:1', 403],
    ['http://localhost', 403],
    ['http://localhost:PORT.evil.com', 403],
    ['http://localhost:PORT/', 403],
    ['http://evil.com', 403],
    ['HTTP://LOCALHOST:PORT', 403],
    ['null', 403],
    ['', 403],
  ])('%s: %i', async (origin, status) => {
    const { port, ask } = await startTestServer({ allowHosts: ['orion.example'] });
    const headers = { origin: origin.replace('PORT', String(port)) };
    for (const json of [undefined, {}]) {
      const answer = await ask('/none', { headers, json });
      expect(answer.status).toBe(status);
      if (status === 403) expect(codeOf(answer.json)).toBe('ORIGIN_NOT_ALLOWED');
    }
  });

  it.each([
    ['cross-site', 403],
    ['same-site', 403],
    ['same-origin', 404],
    ['none', 404],
  ])('a change of Sec-Fetch-Site %s: %i', async (site, status) => {
    const { ask } = await startTestServer();
    const headers = { 'sec-fetch-site': site };
    expect((await ask('/none', { headers, json: {} })).status).toBe(status);
    expect((await ask('/none', { headers, method: 'DELETE' })).status).toBe(status);
    // Reading by a link is harmless: the page that has it sees nothing.
    expect((await ask('/health/live', { headers })).status).toBe(200);
  });
});

const CANCEL = '/api/turns/none/cancel';
/** A route that takes each method, and finds nothing. */
const CHANGED: Readonly<Record<string, string>> = {
  POST: CANCEL,
  PUT: '/api/write-sessions/none/content?offset=0',
  DELETE: '/api/write-sessions/none',
};

describe('what a form cannot send (B11)', () => {
  it.each<[string, string | null, number]>([
    ['POST', 'application/json', 404],
    ['POST', 'application/json; charset=utf-8', 404],
    ['POST', 'Application/JSON;charset="UTF-8"', 404],
    ['POST', 'application/x-www-form-urlencoded', 415],
    ['POST', 'multipart/form-data; boundary=x', 415],
    ['POST', 'text/plain', 415],
    ['POST', 'text/plain;application/json', 415],
    ['POST', 'application/json, text/plain', 415],
    ['POST', 'application/json; charset=utf-16', 415],
    ['POST', 'application/octet-stream', 415],
    ['POST', null, 415],
    ['PUT', 'application/octet-stream', 404],
    ['PUT', 'application/json', 415],
    ['PUT', null, 415],
    ['DELETE', null, 404],
    ['PATCH', 'application/json', 405],
    ['OPTIONS', null, 405],
    ['TRACE', null, 405],
  ])('%s %s: %i', async (method, type, status) => {
    const { ask } = await startTestServer();
    const headers = type === null ? {} : { 'content-type': type };
    const body = method === 'DELETE' || status === 405 ? {} : { body: '{}' };
    const answer = await ask(CHANGED[method] ?? '/metrics', { method, headers, ...body });
    expect([answer.status, codeOf(answer.json) === '']).toEqual([status, false]);
  });

  it('is not a content encoding', async () => {
    const { ask } = await startTestServer();
    for (const encoding of ['gzip', 'br', 'deflate', 'identity, gzip']) {
      const headers = { 'content-encoding': encoding };
      expect((await ask(CANCEL, { headers, json: {} })).status).toBe(415);
    }
    const headers = { 'content-encoding': 'identity' };
    expect((await ask(CANCEL, { headers, json: {} })).status).toBe(404);
  });

  it.each([
    ['POST', '/none', 404, undefined],
    ['PUT', '/api/turns', 405, 'GET, HEAD'],
    ['POST', '/api/turns/none', 405, 'GET, HEAD'],
    ['POST', '/api/%74urns/none/cancel/', 404, undefined],
    ['DELETE', '/health/live', 405, 'GET, HEAD'],
  ])('matters to no request that no route takes: %s %s is %i', async (method, path, ...answer) => {
    const { ask, port, send } = await startTestServer({ limits: { bodyBytes: 1 } });
    for (const type of ['text/plain', 'application/json', 'application/octet-stream']) {
      const { status, headers } = await ask(path, {
        method,
        body: 'not JSON, and too long',
        headers: { 'content-type': type },
      });
      expect([status, headers.allow]).toEqual(answer);
    }
    // A stranger learns nothing of routes, and the body is not asked for.
    expect((await ask(path, { method, token: null })).status).toBe(401);
    const head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${TOKEN}\r\n`;
    const text = await send(
      `${head}Connection: close\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n`,
    );
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${answer[0]} `, 'u'));
  });
});

describe('other origins (B12)', () => {
  it('are allowed nothing by a preflight, and no answer says so', async () => {
    const { ask, port } = await startTestServer();
    const origin = `http://localhost:${port}`;
    const preflight = await ask('/metrics', {
      method: 'OPTIONS',
      token: null,
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    });
    expect(preflight.status).toBe(405);
    for (const { headers } of [
      preflight,
      await ask('/metrics', { headers: { origin } }),
      await ask('/none', { json: {}, headers: { origin } }),
      await ask('/health/live', { token: null }),
    ]) {
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
      expect(headers['cross-origin-resource-policy']).toBe('same-origin');
    }
  });
});

describe('headers of a proxy (B13)', () => {
  it('change nothing, whoever sends them', async () => {
    const { ask, send, log } = await startTestServer();
    const forged = {
      'x-forwarded-host': 'evil.com',
      'x-forwarded-for': '203.0.113.9',
      'x-forwarded-proto': 'https',
      forwarded: 'for=203.0.113.9;host=evil.com;proto=https',
      'x-real-ip': '203.0.113.9',
    };
    expect((await ask('/metrics', { headers: forged })).status).toBe(200);
    expect((await ask('/metrics', { headers: forged, token: null })).status).toBe(401);
    const port = '4310';
    const text = await send(
      `GET /metrics HTTP/1.1\r\nHost: evil.com\r\nX-Forwarded-Host: 127.0.0.1:${port}\r\n` +
        `Authorization: Bearer ${TOKEN}\r\nConnection: close\r\n\r\n`,
    );
    expect(parseAnswer(text).status).toBe(403);
    expect(log.join('')).not.toContain('203.0.113.9');
    expect(log.join('')).not.toContain('evil.com');
  });
});

describe('a proxy in front (B13)', () => {
  const asked = (host: string, more: string): string =>
    `GET /orion/metrics HTTP/1.1\r\nHost: ${host}\r\n${more}Authorization: Bearer ${TOKEN}\r\nConnection: close\r\n\r\n`;

  it('that is listed reports the client and the name that it used', async () => {
    const { send, log } = await startTestServer({
      trustProxies: ['127.0.0.0/8'],
      allowHosts: ['orion.example'],
      basePath: '/orion/',
    });
    const status = async (host: string, more = ''): Promise<number> =>
      parseAnswer(await send(asked(host, more))).status;
    const forwarded =
      'X-Forwarded-Host: orion.example\r\nX-Forwarded-For: 6.6.6.6, 203.0.113.9\r\n';
    expect(await status('backend:8080')).toBe(403);
    expect(await status('backend:8080', forwarded)).toBe(200);
    expect(log.at(-1)).toContain('"client":"203.0.113.9"');
    // An old proxy sends no Host.
    const old = `GET /metrics HTTP/1.0\r\n${forwarded}Authorization: Bearer ${TOKEN}\r\n\r\n`;
    expect(parseAnswer(await send(old)).status).toBe(200);
    // It is a name like any other: one that is not allowed is refused, also beside one that is.
    expect(await status('orion.example', 'X-Forwarded-Host: evil.com\r\n')).toBe(403);
    expect(await status('orion.example', `X-Forwarded-Host: evil.com\r\n${forwarded}`)).toBe(403);
  });

  it('offers the server below a path, and passes that path on or not', async () => {
    const { ask } = await startTestServer({ basePath: '/orion' });
    for (const path of ['/orion/metrics', '/metrics', '/orion/metrics?a=b'])
      expect([path, (await ask(path)).status]).toEqual([path, 200]);
    for (const path of ['/orionmetrics', '/orion', '/orion?x', '/orion/orion/metrics'])
      expect([path, (await ask(path)).status]).toEqual([path, 404]);
    expect((await ask('/orion//metrics')).status).toBe(400);
    expect((await ask('/orion/metrics', { token: null })).status).toBe(401);
    expect((await ask('/orion/health/live', { token: null })).status).toBe(200);
  });
});

describe('a secret', () => {
  it('is in no answer and in no line of the log, wherever a client puts it', async () => {
    const { ask, log, orion } = await startTestServer({}, {});
    orion.keys.add('sk-a-key-of-the-provider');
    for (const secret of [TOKEN, 'sk-a-key-of-the-provider', encodeURIComponent(TOKEN)]) {
      const answers = [
        await ask(`/api/conversations/${secret}`),
        await ask(`/api/conversations?before=${secret}`),
        await ask(`/${secret}`, { headers: { 'user-agent': secret } }),
        await ask(`/api/${secret}`, { json: { [secret]: secret } }),
      ];
      expect(answers.map(({ status }) => status)).toEqual([404, 400, 404, 404]);
      expect(JSON.stringify(answers) + log.join('')).not.toContain(secret);
    }
    expect(log.join('')).toContain('[REDACTED]');
  });

  it('is in nothing that is stored of a message, before its turn and after it', async () => {
    const answered = Promise.withResolvers<void>();
    const adapter = createFakeAdapter([
      async function* () {
        await answered.promise;
        yield* textReply('said');
      },
    ]);
    const { ask, orion } = await startTestServer({}, { adapter });
    const secret = 'sk-a-key-of-the-provider';
    orion.keys.add(secret);
    const json = { content: `use ${secret}`, metadata: { of: [secret] } };
    const headers = { accept: 'application/json' };
    const sent = await ask('/api/chat/messages', { json, headers });
    const { turnId } = sent.json as { turnId: string };
    const { servedTurns, conversations } = orion.store;
    const turn = await servedTurns.toRun(turnId);
    expect(turn).toMatchObject({ content: 'use [REDACTED]', metadata: { of: ['[REDACTED]'] } });
    answered.resolve();
    await expect.poll(async () => (await servedTurns.find(turnId))?.state).toBe('done');
    const stored = JSON.stringify(await conversations.load(turn?.conversationId ?? ''));
    expect(stored).toContain('use [REDACTED]');
    expect(stored).not.toContain(secret);
  });
});
