import { systemClock } from '@orion/contracts';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createNetServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

import { createFakeClock } from '@orion/testkit';
import { expect, onTestFinished, test } from 'vitest';

import { createAdapterOf } from '../testing/providers.ts';
import {
  DONE,
  ONCE,
  QUESTION,
  STOP,
  collect,
  content,
  errorOf,
  serve,
  sse,
  textOf,
} from '../testing/streams.ts';
import { HttpFailure, postJson } from './post-json.ts';
import type { JsonPost } from './post-json.ts';

const BODY = sse(content('a'), STOP, DONE);

async function listen(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

const ask = (baseUrl: string) =>
  collect(
    createAdapterOf('openai-chat', { baseUrl, retry: ONCE }).sendMessagesStreaming(QUESTION, {}),
  );

test('a redirect is not followed, and says where the server is', async () => {
  let asked = 0;
  const other = await listen((_request, response) => {
    asked += 1;
    response.end();
  });
  const url = await listen((_request, response) => {
    response.writeHead(308, { location: `${other}/chat/completions?key=secret` });
    response.end();
  });
  const error = errorOf(await ask(url));
  expect(error).toMatchObject({ code: 'PROVIDER_REQUEST' });
  expect(error.message).toContain(`The server redirects to ${other}/chat/completions;`);
  expect(error.message).not.toContain('secret');
  expect(asked).toBe(0);
});

test('an answer that comes compressed without being asked to is read', async () => {
  const url = await listen((request, response) => {
    expect(request.headers['accept-encoding']).toBeUndefined();
    response.writeHead(200, { 'content-encoding': 'gzip' });
    response.end(gzipSync(BODY));
  });
  expect(textOf(await ask(url))).toBe('a');
});

test('a connection that the server has closed meanwhile is not the answer', async () => {
  const server = await serve([{ pieces: [BODY] }, { pieces: [BODY] }]);
  const adapter = createAdapterOf('openai-chat', { baseUrl: server.url, retry: ONCE });
  const talk = async () => textOf(await collect(adapter.sendMessagesStreaming(QUESTION, {})));
  expect(await talk()).toBe('a');
  server.dropConnections();
  expect(await talk()).toBe('a');
});

const post = (url: string, more: Partial<JsonPost> = {}) =>
  postJson({
    url: new URL(url),
    headers: {},
    body: { text: 'Grüße' },
    signal: new AbortController().signal,
    clock: systemClock,
    connectTimeoutMs: 10_000,
    ...more,
  });

const caught = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

test('what is sent says that it is JSON, and nothing of who sends it but a name', async () => {
  let sent: IncomingMessage['headers'] = {};
  let text = '';
  const url = await listen((request, response) => {
    sent = request.headers;
    request.on('data', (bytes: Buffer) => (text += bytes.toString()));
    request.on('end', () => response.end());
  });
  const body = await post(url, { headers: { authorization: 'Bearer own' } });
  expect(await body.read()).toEqual({ kind: 'end' });
  expect(text).toBe('{"text":"Grüße"}');
  expect(sent).toEqual({
    accept: 'application/json',
    'content-type': 'application/json',
    'content-length': '18',
    'user-agent': 'orion',
    authorization: 'Bearer own',
    host: new URL(url).host,
    connection: 'keep-alive',
  });
});

test.for([
  ['over HTTP', undefined],
  ['over a given fetch', fetch],
] as const)(
  'another status is a typed failure with its text and headers: %s',
  async ([, given]) => {
    const url = await listen((_request, response) => {
      response.writeHead(429, { 'Retry-After': '7', 'x-twice': ['a', 'b'] });
      response.end('{"error":{"message":"slow"}}');
    });
    const error = await caught(post(url, { fetch: given }));
    expect(error).toBeInstanceOf(HttpFailure);
    const { status, text, headers } = error as HttpFailure;
    expect([status, text]).toEqual([429, '{"error":{"message":"slow"}}']);
    expect([headers('retry-after'), headers('x-twice'), headers('x-none')]).toEqual([
      '7',
      'a, b',
      undefined,
    ]);
  },
);

test.for([
  ['over HTTP', undefined],
  ['over a given fetch', fetch],
] as const)(
  'a server has a time for the head of its answer, and no more: %s',
  async ([, given]) => {
    const url = await listen(() => undefined);
    const clock = createFakeClock();
    const answer = caught(post(url, { clock, connectTimeoutMs: 5000, fetch: given }));
    await clock.advance(4999);
    expect(clock.pending()).toBe(1);
    await clock.advance(1);
    expect(await answer).toMatchObject({ message: 'The request timed out' });
    expect(clock.pending()).toBe(0);
  },
);

test('what a server says of a failure is read up to a mebibyte', async () => {
  const url = await listen((_request, response) => {
    response.writeHead(500);
    response.end('x'.repeat(1_048_577));
  });
  const error = (await caught(post(url))) as HttpFailure;
  expect(error.text).toBe('x'.repeat(1_048_576));
});

test('more than a reader can hold waits on the network', async () => {
  const piece = Buffer.alloc(64 * 1024, 'x');
  let sent = 0;
  const url = await listen((_request, response) => {
    response.writeHead(200);
    const more = (): void => {
      while (sent < 64 * 1024 * 1024) {
        sent += piece.length;
        if (!response.write(piece)) {
          response.once('drain', more);
          return;
        }
      }
      response.end();
    };
    more();
  });
  const body = await post(url);
  await expect.poll(() => sent, { interval: 50 }).toBeGreaterThan(256 * 1024);
  await new Promise((resolve) => {
    setTimeout(resolve, 100);
  });
  expect(sent).toBeLessThan(32 * 1024 * 1024);
  let received = 0;
  for (let arrival = await body.read(); arrival.kind === 'bytes'; arrival = await body.read())
    received += arrival.bytes.length;
  expect(received).toBe(64 * 1024 * 1024);
});

test('a server that switches to another protocol has not answered (issue 12)', async () => {
  const server = createNetServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n');
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  expect(errorOf(await ask(`http://127.0.0.1:${port}/v1`))).toMatchObject({
    code: 'PROVIDER_UNREACHABLE',
    message: expect.stringContaining('The connection was closed before an answer'),
  });
});
