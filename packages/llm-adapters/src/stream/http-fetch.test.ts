import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

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
import { bodyOf, httpFetch } from './http-fetch.ts';

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
  const body = bodyOf(await httpFetch(url));
  await expect.poll(() => sent, { interval: 50 }).toBeGreaterThan(256 * 1024);
  await new Promise((resolve) => {
    setTimeout(resolve, 100);
  });
  expect(sent).toBeLessThan(32 * 1024 * 1024);
  let received = 0;
  for (let arrival = await body.read(); arrival.kind === 'bytes'; arrival = await body.read())
    received += arrival.chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  expect(received).toBe(64 * 1024 * 1024);
});
