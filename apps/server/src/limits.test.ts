// Everything that a client can make large or slow is bounded (B28), and others do not notice.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { createOrion } from '@orion/agent';
import type { ConversationSummary } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { describe, expect, it } from 'vitest';

import type { ServerOptions } from './configuration.ts';
import {
  codeOf,
  openSocket,
  parseAnswer,
  readToEnd,
  startTestServer,
  temporaryDirectory,
  TOKEN,
} from './testing/test-server.ts';

const headOf = (port: number, rest: string): string =>
  `POST /api/turns/none/cancel HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${TOKEN}\r\n` +
  `Content-Type: application/json\r\n${rest}`;

const CONVERSATION: ConversationSummary = {
  conversationId: 'c',
  projectId: 'p',
  title: 't',
  messages: 0,
  createdAt: 0,
  updatedAt: 0,
  openSessionId: null,
  revision: 1,
};

/** A server whose store has an answer for those who list conversations when a test gives one. */
async function startSlowServer(options: Partial<ServerOptions>) {
  const { store } = await createOrion({ workspace: await temporaryDirectory(), store: 'memory' });
  const asked = Promise.withResolvers<void>();
  const found = Promise.withResolvers<readonly ConversationSummary[]>();
  const conversations: typeof store.conversations = {
    ...store.conversations,
    list() {
      asked.resolve();
      return found.promise;
    },
  };
  const server = await startTestServer(options, { store: { ...store, conversations } });
  return { ...server, answerWith: found.resolve, isAsked: asked.promise };
}

describe('a body', () => {
  it.each(['with a length', 'in chunks'])('is taken up to its limit, %s', async (how) => {
    const { ask } = await startTestServer({ limits: { bodyBytes: 1000 } });
    const headers: Record<string, string> =
      how === 'in chunks' ? { 'transfer-encoding': 'chunked' } : {};
    const body = (bytes: number): string => `"${'x'.repeat(bytes - 2)}"`;
    const type = { 'content-type': 'application/json' };
    const post = async (bytes: number) => {
      const { status, json } = await ask('/api/turns/none/cancel', {
        body: body(bytes),
        headers: { ...type, ...headers },
      });
      return [status, codeOf(json)];
    };
    expect(await post(1000)).toEqual([400, 'REQUEST_INVALID']);
    expect(await post(1001)).toEqual([413, 'BODY_TOO_LARGE']);
    expect(await post(900_000)).toEqual([413, 'BODY_TOO_LARGE']);
  });

  it.each([
    ['to its end', 3000, 3000],
    ['up to four times the limit, whatever it announced', 100_000, 4001],
  ])('that is too large is answered at once and taken %s', async (_how, announced, sent) => {
    const { port } = await startTestServer({
      limits: { bodyBytes: 1000 },
      clock: createFakeClock(),
    });
    const socket = await openSocket(port);
    const answer = readToEnd(socket);
    let errors = 0;
    socket.on('error', () => (errors += 1));
    socket.write(headOf(port, `Content-Length: ${announced}\r\n\r\n`));
    await new Promise((resolve) => socket.once('data', resolve));
    socket.write('x'.repeat(sent - 1));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(socket.readyState).toBe('open');
    socket.write('x');
    const { status, head, body } = parseAnswer(await answer);
    expect([status, codeOf(JSON.parse(body)), errors]).toEqual([413, 'BODY_TOO_LARGE', 0]);
    expect(head).toContain('\r\nconnection: close');
  });

  it('that is too large is taken for as long as one that is not', async () => {
    const clock = createFakeClock();
    const { port } = await startTestServer({ clock, limits: { bodyBytes: 10, bodyMs: 5000 } });
    const socket = await openSocket(port);
    const answer = readToEnd(socket);
    socket.write(headOf(port, 'Content-Length: 39\r\n\r\nx'));
    await new Promise((resolve) => socket.once('data', resolve));
    await clock.advance(4999);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(socket.readyState).toBe('open');
    await clock.advance(1);
    expect(parseAnswer(await answer).status).toBe(413);
  });

  it('that is announced to be too large is not asked for', async () => {
    const { send, port } = await startTestServer({ limits: { bodyBytes: 10 } });
    const expecting = (bytes: number): string =>
      headOf(port, `Expect: 100-continue\r\nContent-Length: ${bytes}\r\n\r\n`);
    for (const [request, told] of [
      [expecting(11), [413, 'BODY_TOO_LARGE']],
      [expecting(10).replace(TOKEN, 'another'), [401, 'UNAUTHORIZED']],
    ] as const) {
      const { status, head, body } = parseAnswer(await send(request));
      expect([status, codeOf(JSON.parse(body))]).toEqual(told);
      // A client that sends it all the same would have it read as its next request.
      expect(head).toContain('\r\nconnection: close');
    }
  });

  it('that does not arrive is given up, and its connection closed', async () => {
    const { port, ask } = await startTestServer({ limits: { bodyMs: 100 } });
    const socket = await openSocket(port);
    const answer = readToEnd(socket);
    socket.write(headOf(port, 'Content-Length: 10000\r\n\r\n{'));
    const drip = setInterval(() => socket.write(' '), 20);
    const { status, body } = parseAnswer(await answer);
    clearInterval(drip);
    expect([status, codeOf(JSON.parse(body))]).toEqual([408, 'REQUEST_TIMEOUT']);
    expect((await ask('/health/live')).status).toBe(200);
  });

  it('that is given up and arrives after all is not answered again, whatever follows it', async () => {
    const { port } = await startTestServer({ limits: { bodyMs: 50 } });
    const socket = await openSocket(port);
    const answer = readToEnd(socket);
    socket.write(headOf(port, 'Content-Length: 2\r\n\r\n{'));
    await new Promise((resolve) => socket.once('data', resolve));
    socket.write('} and what is not HTTP\r\n\r\n');
    expect((await answer).match(/HTTP\/1\.1/gu)).toHaveLength(1);
  });

  it.each<[string, string | Uint8Array]>([
    ['that is not JSON', '{"a":'],
    ['that is not UTF-8', new Uint8Array([0x22, 0xff, 0x22])],
    ['of UTF-8 with a byte order mark', '\ufeff{}'],
    ['of a million brackets', '['.repeat(1_000_000)],
    ['nested 33 levels', '['.repeat(33) + ']'.repeat(33)],
  ])('%s is refused', async (_name, body) => {
    const { ask } = await startTestServer();
    const answer = await ask('/api/turns/none/cancel', {
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect([answer.status, codeOf(answer.json)]).toEqual([400, 'REQUEST_INVALID']);
  });

  it('that breaks off leaves nothing behind', async () => {
    const { port, ask, log } = await startTestServer();
    const socket = await openSocket(port);
    socket.write(headOf(port, 'Content-Length: 100\r\n\r\n{'));
    await expect.poll(async () => (await ask('/metrics')).text).toMatch(/in_progress\S* 2\n/u);
    socket.destroy();
    await expect.poll(async () => (await ask('/metrics')).text).toMatch(/in_progress\S* 1\n/u);
    expect(log.some((line) => line.includes('"aborted":true'))).toBe(true);
  });

  it('is only sent after the head was looked at, where the client waits for that', async () => {
    const { port, send } = await startTestServer();
    const expecting = 'Expect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\n';
    const refused = await send(headOf(port, expecting).replace(TOKEN, 'x'));
    expect(parseAnswer(refused).status).toBe(401);
    const socket = await openSocket(port);
    const answer = readToEnd(socket);
    socket.once('data', () => socket.write('{}'));
    socket.write(headOf(port, expecting));
    const text = await answer;
    expect(text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 404 /u);
  });
});

describe('a head', () => {
  it('that is too large is refused', async () => {
    const { port, send } = await startTestServer({ limits: { headerBytes: 4096 } });
    const long = 'x'.repeat(5000);
    for (const text of [
      `GET /${long} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`,
      `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-Long: ${long}\r\n\r\n`,
    ]) {
      const { status, body, head } = parseAnswer(await send(text));
      expect([status, codeOf(JSON.parse(body))]).toEqual([431, 'HEADERS_TOO_LARGE']);
      expect(head).toContain('connection: close');
    }
  });

  it('that is not HTTP is refused', async () => {
    const { send, port } = await startTestServer();
    for (const text of [
      'hello\r\n\r\n',
      'GET / HTTP/9.9\r\n\r\n',
      `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nA: b\u0000c\r\n\r\n`,
      headOf(port, 'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'),
      headOf(port, 'Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}'),
    ]) {
      const { status, body } = parseAnswer(await send(text));
      expect([text, status, codeOf(JSON.parse(body))]).toEqual([text, 400, 'REQUEST_INVALID']);
    }
  });

  it('that arrives too slowly is given up, however many there are', async () => {
    const { port, ask } = await startTestServer({ limits: { headerMs: 250 } });
    const sockets = await Promise.all(Array.from({ length: 200 }, () => openSocket(port)));
    const answers = sockets.map(readToEnd);
    const drip = setInterval(() => {
      for (const socket of sockets) if (socket.writable) socket.write('X: y\r\n');
    }, 50);
    for (const socket of sockets) socket.write(`GET / HTTP/1.1\r\n`);
    // A silent one is no better.
    const silent = readToEnd(await openSocket(port));
    expect((await ask('/health/live')).status).toBe(200);
    const texts = await Promise.all(answers);
    clearInterval(drip);
    expect(new Set(texts.map((text) => parseAnswer(text).status))).toEqual(new Set([408]));
    expect(parseAnswer(await silent).status).toBe(408);
  });
});

describe('a connection', () => {
  it('outlives a request that is refused', async () => {
    const { port, send } = await startTestServer();
    const get = (path: string, more = ''): string =>
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${more}\r\n`;
    const answers = await send(get('/metrics') + get('/health/live', 'Connection: close\r\n'));
    expect(answers.match(/HTTP\/1\.1 \d+/gu)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 200']);
  });

  it('on which nothing moves is closed', async () => {
    const { port } = await startTestServer({ limits: { idleMs: 100 } });
    const socket = await openSocket(port);
    const ended = readToEnd(socket);
    socket.write(headOf(port, 'Content-Length: 100\r\n\r\n{'));
    expect(await ended).toBe('');
  });

  it('that waits for its answer is kept', async () => {
    const { ask, answerWith, isAsked } = await startSlowServer({ limits: { idleMs: 50 } });
    const answer = ask('/api/conversations');
    await isAsked;
    await new Promise((resolve) => setTimeout(resolve, 200));
    answerWith([]);
    expect((await answer).json).toEqual({ conversations: [], next: null });
  });

  it('whose answer nobody takes is closed', async () => {
    const { port, log, answerWith } = await startSlowServer({ limits: { idleMs: 50 } });
    const socket = await openSocket(port);
    socket.on('error', () => undefined).pause();
    const asking = `GET /api/conversations HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`;
    // A second request that waits for the first answer is no reason to wait for its client.
    socket.write(asking + asking);
    answerWith([{ ...CONVERSATION, title: 'x'.repeat(50_000_000) }]);
    await expect.poll(() => log.filter((line) => line.includes('"aborted":true'))).toHaveLength(2);
  });

  it('more than there may be is not taken', async () => {
    const { port, ask } = await startTestServer({ limits: { connections: 20 } });
    const first = await Promise.all(Array.from({ length: 20 }, () => openSocket(port)));
    await expect(ask('/health/live')).rejects.toThrow(/hang up|ECONNRESET/u);
    for (const socket of first) socket.destroy();
    await expect
      .poll(() =>
        ask('/health/live').then(
          ({ status }) => status,
          () => 0,
        ),
      )
      .toBe(200);
  });

  it('more than there may be is not handed round among workers', { tags: ['long'] }, async () => {
    const script = fileURLToPath(new URL('testing/limited-worker.ts', import.meta.url));
    const parts = ['--conditions=@orion/source', script];
    const { stdout } = await promisify(execFile)(process.execPath, parts);
    expect(stdout).toBe('closed');
  });

  it('whose body is not what its head says gets one answer', async () => {
    const { port, send } = await startTestServer();
    const text = await send(headOf(port, 'Transfer-Encoding: chunked\r\n\r\nnot a chunk\r\n'));
    const { status, body } = parseAnswer(text);
    expect([status, codeOf(JSON.parse(body))]).toEqual([400, 'REQUEST_INVALID']);
  });
});

describe('requests in a second', () => {
  it.each([
    ['opensPerSecond', '/docs', null, undefined],
    ['readsPerSecond', '/metrics', TOKEN, undefined],
    ['changesPerSecond', '/none', TOKEN, {}],
    ['refusalsPerSecond', '/metrics', 'another token entirely', undefined],
  ])('%s', async (limit, path, token, json) => {
    const clock = createFakeClock();
    const { ask } = await startTestServer({ clock, limits: { [limit]: 2 } });
    const asked = async (): Promise<unknown> => {
      const { status, headers, json: answer } = await ask(path, { token, json });
      return status === 429 ? [codeOf(answer), headers['retry-after']] : 'passed';
    };
    const burst = [await asked(), await asked(), await asked(), await asked()];
    expect(burst).toEqual(burst.map(() => 'passed'));
    expect(await asked()).toEqual(['RATE_LIMITED', '1']);
    await clock.advance(500);
    expect([await asked(), await asked()]).toEqual(['passed', ['RATE_LIMITED', '1']]);
    await clock.advance(60_000);
    for (let each = 0; each < 4; each += 1) expect(await asked()).toBe('passed');
    expect(await asked()).not.toBe('passed');
  });

  it('of probes are not limited, which anybody could use to have the server restarted', async () => {
    const { ask } = await startTestServer({ limits: { opensPerSecond: 1 } });
    for (let each = 0; each < 5; each += 1) await ask('/docs', { token: null });
    expect((await ask('/docs', { token: null })).status).toBe(429);
    for (const path of ['/health/live', '/health/ready'])
      expect((await ask(path, { token: null })).status).toBe(200);
  });

  it('of paths that only look like probes are', async () => {
    const { ask } = await startTestServer({ limits: { readsPerSecond: 1 } });
    const statuses = [];
    for (let each = 0; each < 3; each += 1) statuses.push((await ask('/health/../metrics')).status);
    expect(statuses.at(-1)).toBe(429);
  });

  it('of strangers are not counted against those with the token', async () => {
    const { ask } = await startTestServer({ limits: { refusalsPerSecond: 1 } });
    for (let each = 0; each < 5; each += 1) await ask('/metrics', { token: null });
    expect((await ask('/metrics', { token: null })).status).toBe(429);
    expect((await ask('/metrics')).status).toBe(200);
  });
});

it('garbage behind a request that runs gets no answer, which its client would take for its own', async () => {
  const { port, isAsked } = await startSlowServer({});
  const socket = await openSocket(port);
  const answer = readToEnd(socket);
  const head = `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`;
  socket.write(`GET /api/conversations HTTP/1.1\r\n${head}`);
  await isAsked;
  socket.write('garbage\r\n\r\n');
  expect(await answer).toBe('');
});
