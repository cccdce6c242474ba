import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { createOrion } from '@orion/agent';
import { OrionError } from '@orion/contracts';
import { createFakeAdapter, createFakeClock } from '@orion/testkit';
import { PgBoss } from 'pg-boss';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { startServer } from './index.ts';
import { makeDatabase } from './testing/test-database.ts';
import {
  codeOf,
  openSocket,
  readToEnd,
  startTestServer,
  temporaryDirectory,
  TOKEN,
} from './testing/test-server.ts';

const AWAY = new OrionError({ code: 'STORE_UNAVAILABLE', message: 'away', retryable: true });

describe('health', () => {
  it('needs no token and says what can be used', async () => {
    const { ask } = await startTestServer();
    const live = await ask('/health/live', { token: null });
    expect([live.status, live.json]).toEqual([200, { status: 'ok' }]);
    const ready = await ask('/health/ready', { token: null });
    expect([ready.status, ready.json]).toEqual([
      200,
      { status: 'ok', services: { store: 'ok', disk: 'ok' } },
    ]);
    expect((await ask('/health/live', { method: 'HEAD', token: null })).text).toBe('');
  });

  it('is not ready without its store, and lives', async () => {
    const { store } = await createOrion({ workspace: await temporaryDirectory(), store: 'memory' });
    let isAway = false;
    const conversations: typeof store.conversations = {
      ...store.conversations,
      list: (filter) => (isAway ? Promise.reject(AWAY) : store.conversations.list(filter)),
    };
    const { ask } = await startTestServer({}, { store: { ...store, conversations } });
    isAway = true;
    const ready = await ask('/health/ready', { token: null });
    expect([ready.status, ready.json]).toEqual([
      503,
      { status: 'unavailable', services: { store: 'unavailable', disk: 'ok' } },
    ]);
    expect((await ask('/health/live', { token: null })).status).toBe(200);
  });

  it('does not start without its store', async () => {
    const settings = { databaseUrl: 'postgres://nobody@127.0.0.1:1/none' };
    await expect(
      startTestServer({}, { store: undefined as never, settings }),
    ).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });
});

describe('errors', () => {
  it('are JSON, wherever they come from', async () => {
    const { ask } = await startTestServer();
    const missing = await ask('/none');
    expect([missing.status, missing.json]).toEqual([
      404,
      {
        error: {
          code: 'ROUTE_NOT_FOUND',
          message: 'There is no such route.',
          hint: 'See /openapi.json for the routes.',
        },
      },
    ]);
    const wrong = await ask('/metrics', { json: {} });
    expect([wrong.status, codeOf(wrong.json), wrong.headers.allow]).toEqual([
      405,
      'METHOD_NOT_ALLOWED',
      'GET, HEAD',
    ]);
  });

  it('of a defect do not show what it says', async () => {
    const { ask, orion, log } = await startTestServer();
    orion.listSessions = () => Promise.reject(new Error('a secret of a file'));
    const { status, json, headers, text } = await ask('/metrics');
    expect([status, codeOf(json)]).toEqual([500, 'INTERNAL_ERROR']);
    expect(text + log.join('')).not.toContain('a secret');
    const defect = log.map((line) => JSON.parse(line)).find(({ msg }) => msg === 'defect');
    expect(defect).toMatchObject({ id: headers['x-request-id'], type: 'Error' });
    expect(defect.stack.length).toBeGreaterThan(0);
  });
});

describe('the log', () => {
  it('has a line for each request, without its token, query and headers', async () => {
    const { ask, log } = await startTestServer({ processName: 'p1' });
    const secret = 'a-secret-of-the-client';
    const { headers } = await ask(`/none/%0A%1B?q=${secret}`, {
      headers: { 'x-other': secret, cookie: secret },
      json: { secret },
    });
    await ask('/metrics');
    expect(log).toHaveLength(2);
    expect(
      log.every((line) => line.endsWith('}\n') && line.indexOf('\n') === line.length - 1),
    ).toBe(true);
    expect(log.join('')).not.toContain(secret);
    expect(log.join('')).not.toContain(TOKEN);
    expect(JSON.parse(log[0] ?? '')).toEqual({
      level: 30,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/u),
      process: 'p1',
      id: headers['x-request-id'],
      client: '127.0.0.1',
      method: 'POST',
      path: '/none/%0A%1B',
      status: 404,
      code: 'ROUTE_NOT_FOUND',
      ms: expect.any(Number),
      bytes: expect.any(Number),
      msg: 'request',
    });
  });

  it('cuts a long path', async () => {
    const { ask, log } = await startTestServer();
    await ask(`/${'x'.repeat(5000)}`);
    expect(JSON.parse(log[0] ?? '').path).toHaveLength(200);
  });
});

describe('metrics', () => {
  it('count by routes, not by paths, and name the process', async () => {
    const { ask } = await startTestServer({ processName: 'p1' });
    await ask('/health/live');
    await ask('/none/1');
    await ask('/none/2');
    await ask('/metrics', { token: null });
    const { text, headers } = await ask('/metrics');
    expect(headers['content-type']).toMatch(/^text\/plain/u);
    const line = (route: string, status: number, count: number): string =>
      `orion_http_requests_total{method="GET",route="${route}",status="${status}",process="p1"} ${count}\n`;
    expect(text).toContain(line('/health/live', 200, 1));
    expect(text).toContain(line('none', 404, 2));
    expect(text).toContain(line('none', 401, 1));
    expect(text).toContain('orion_http_requests_in_progress{process="p1"} 1\n');
    expect(text).toMatch(/orion_event_loop_delay_seconds\{quantile="0.99",process="p1"\} \d/u);
    expect(text).toContain(
      'orion_write_session_bytes_total{stage="saved",process="p1"} 0\n' +
        'orion_write_session_bytes_total{stage="synced",process="p1"} 0\n',
    );
    expect(text).toContain('orion_not_stored{kind="turnEvents",process="p1"} 0\n');
  });

  it.each([
    ['fails', () => Promise.reject(AWAY)],
    ['does not answer', () => Promise.withResolvers<never>().promise],
  ])('lack only what the store has while it %s', async (_, answer) => {
    const { store } = await createOrion({ workspace: await temporaryDirectory(), store: 'memory' });
    const clock = createFakeClock();
    const asked = Promise.withResolvers<void>();
    const away = (): Promise<never> => {
      asked.resolve();
      return answer();
    };
    const approvals = { ...store.approvals, countPending: away };
    const { ask, orion } = await startTestServer({ clock }, { store: { ...store, approvals } });
    orion.listSessions = away;
    const reading = ask('/metrics');
    await asked.promise;
    await clock.advance(1_000);
    const { status, text } = await reading;
    expect(status).toBe(200);
    expect(text).toMatch(/^orion_turns\{state="running",\S* 0$/mu);
    expect(text).toMatch(/^orion_http_requests_in_progress\S* 1$/mu);
    expect(text).not.toMatch(/^orion_(approvals_pending|write_sessions)\b/mu);
  });

  it('count turns by protocol and outcome, what providers took, and what waits', async () => {
    const usage = { inputTokens: 7, outputTokens: 5, cachedTokens: 3, reasoningTokens: 2 };
    const adapter = createFakeAdapter([
      [
        { type: 'text-delta', text: 'said' },
        { type: 'usage', usage },
        { type: 'finish', reason: 'stop' },
      ],
    ]);
    const { ask, orion } = await startTestServer({ processName: 'p1' }, { adapter });
    const json = { projectId: 'p', content: 'q' };
    const post = await ask('/api/chat/messages', { json, headers: { accept: 'application/json' } });
    expect(post.status).toBe(202);
    await expect
      .poll(async () => (await orion.store.servedTurns.list({ limit: 1 }))[0]?.state)
      .toBe('done');
    const { text } = await ask('/metrics');
    for (const line of [
      'orion_turns_total{protocol="standard",status="complete",process="p1"} 1',
      'orion_tokens_total{kind="input",process="p1"} 7',
      'orion_tokens_total{kind="output",process="p1"} 5',
      'orion_tokens_total{kind="cached",process="p1"} 3',
      'orion_tokens_total{kind="reasoning",process="p1"} 2',
      'orion_turns{state="running",process="p1"} 0',
      'orion_turns{state="queued",process="p1"} 0',
      'orion_queue_lag_seconds{process="p1"} 0',
      'orion_follower_lag_seconds{process="p1"} 0',
    ])
      expect(text).toContain(`${line}\n`);
  });
});

describe('a start', () => {
  it('says everything that is wrong with its options', async () => {
    const started = startTestServer({
      host: 'example.com',
      port: 70_000,
      token: 'short',
      allowHosts: ['a b', '*'],
      trustProxies: ['proxy', '10.0.0.0/33'],
      basePath: 'orion//',
      limits: { bodyMs: 0 },
    });
    await expect(started).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message:
        'The host "example.com" is neither an IP address nor localhost. ' +
        'The port 70000 is not a whole number from 0 to 65535. ' +
        'The token (ORION_SERVER_TOKEN) needs at least 16 letters, digits or the characters - . _ ~ + /. ' +
        '"a b" is not a name of a host. "*" is not a name of a host. ' +
        'The proxy "proxy" is neither an IP address nor a network. ' +
        'The proxy "10.0.0.0/33" is neither an IP address nor a network. ' +
        'The base path "orion//" is not a path such as /orion. ' +
        'The limit bodyMs is 0, but must be a whole number from 1.',
    });
  });

  it('says that the port is taken', async () => {
    await expect(startTestServer({ port: await takenPort() })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('EADDRINUSE'),
    });
  });

  it('that cannot take its port leaves no queue at work', async () => {
    const settings = { databaseUrl: await makeDatabase() };
    const started = vi.spyOn(PgBoss.prototype, 'start');
    const stopped = vi.spyOn(PgBoss.prototype, 'stop');
    onTestFinished(() => void vi.restoreAllMocks());
    const starting = startTestServer(
      { port: await takenPort() },
      { store: undefined as never, settings },
    );
    await expect(starting).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    expect(started).toHaveBeenCalledOnce();
    expect(stopped).toHaveBeenCalledOnce();
  });

  it('leaves its address in the state directory until it stops', async () => {
    const { server, root } = await startTestServer();
    const file = join(root, '.orion/server/server.json');
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
      url: server.url,
      pid: process.pid,
    });
    await server.stop();
    await expect(readFile(file)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('listens on IPv6 as well', async () => {
    const { server } = await startTestServer({ host: '::1' });
    expect(server.url).toMatch(/^http:\/\/\[::1\]:\d+$/u);
    const answer = await fetch(`${server.url}/health/live`);
    expect(answer.status).toBe(200);
  });
});

describe('a stop', () => {
  it('fails readiness first, lets requests in progress end, and takes no others', async () => {
    const { server, port, ask } = await startTestServer();
    const kept = await openSocket(port);
    const slow = await openSocket(port);
    const answer = readToEnd(slow);
    slow.write(
      `POST /api/turns/none/cancel HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${TOKEN}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{',
    );
    await expect.poll(async () => (await ask('/metrics')).text).toMatch(/in_progress\S* 2\n/u);
    const stopped = server.stop();
    const ready = await ask('/health/ready');
    expect([ready.status, ready.json]).toEqual([
      503,
      { status: 'stopping', services: { store: 'ok', disk: 'ok' } },
    ]);
    const live = readToEnd(kept);
    kept.write(`GET /health/live HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
    expect(await live).toMatch(/^HTTP\/1\.1 200 [^]*\r\nconnection: close\r\n/iu);
    const refused = await ask('/metrics');
    expect([refused.status, codeOf(refused.json)]).toEqual([503, 'SERVER_STOPPING']);
    slow.write('}');
    await stopped;
    expect(await answer).toMatch(/^HTTP\/1\.1 404 /u);
    await expect(ask('/health/live')).rejects.toThrow(/ECONNREFUSED/u);
  });

  it('ends what does not end by itself', async () => {
    const { server, port, ask } = await startTestServer();
    const stuck = readToEnd(await openStuck(port));
    await expect.poll(async () => (await ask('/metrics')).text).toMatch(/in_progress\S* 2\n/u);
    await server.stop({ drainMs: 50 });
    expect(await stuck).toBe('');
    await server.stop();
  });
});

async function takenPort(): Promise<number> {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise((resolve) => void other.close(() => resolve(undefined))));
  return (other.address() as AddressInfo).port;
}

async function openStuck(port: number) {
  const socket = await openSocket(port);
  socket.write(
    `POST /api/turns/none/cancel HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${TOKEN}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 9\r\n\r\n',
  );
  return socket;
}

it('opens no port when it is imported', () => {
  expect(startServer).toBeTypeOf('function');
});

describe('the store', () => {
  it('is served by one server; a second one is told which, and starts when that has stopped', async () => {
    const root = await temporaryDirectory();
    const stored = { workspace: root, store: undefined as never };
    const { server } = await startTestServer({}, stored);
    await expect(startTestServer({}, stored)).rejects.toMatchObject({
      code: 'STORE_IN_USE',
      details: { pid: process.pid, url: server.url },
    });
    await server.stop();
    const { ask } = await startTestServer({}, stored);
    expect((await ask('/health/ready')).status).toBe(200);
  });
});
