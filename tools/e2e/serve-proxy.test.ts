// A proxy with TLS and a path of its own in front of `orion serve` (B13), and somebody who only says that he is one.
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect } from 'vitest';

import { at } from './support/sandbox.ts';
import { LAST_WORD } from './support/scripts.ts';
import { framesOf, SERVER_TOKEN, serve, told } from './support/serve.ts';
import { test } from './support/test.ts';
import { waitFor } from './support/wait.ts';

const NAME = 'orion.example.com';

/** Passes everything on as it comes, as a proxy without buffers does, with the headers that proxies add. */
async function startProxy(backend: number): Promise<{ readonly port: number; close(): void }> {
  const server = createServer((incoming, outgoing) => {
    const headers = {
      ...incoming.headers,
      host: 'backend.internal:9',
      'x-forwarded-host': incoming.headers.host,
      'x-forwarded-proto': 'https',
      'x-forwarded-for': `${String(incoming.headers['x-forwarded-for'] ?? '')},203.0.113.9`,
    };
    const { url: path, method } = incoming;
    const passed = request(
      { port: backend, host: '127.0.0.1', path, method, headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    passed.on('error', () => outgoing.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() };
}

test.concurrent('a turn through a proxy: host, origin, path, client and events are right', async ({
  machine,
}) => {
  const provider = await machine.provider({
    behaviours: [{ ...LAST_WORD, shape: { chunk: 2, eventsPerSecond: 5 } }],
  });
  const server = await serve(machine, [
    ...at(provider),
    '--allow-host',
    NAME,
    '--trust-proxy',
    '127.0.0.1',
    '--base-path',
    '/orion',
  ]);
  const proxy = await startProxy(server.port);
  try {
    const headers = {
      host: NAME,
      origin: `https://${NAME}`,
      authorization: `Bearer ${SERVER_TOKEN}`,
      'content-type': 'application/json',
      'x-forwarded-for': '6.6.6.6',
    };
    const arrivals: number[] = [];
    const { location, text } = await new Promise<{
      readonly location: string | undefined;
      readonly text: string;
    }>((resolve, reject) => {
      const asked = request(
        { port: proxy.port, path: '/orion/api/chat/messages', method: 'POST', headers },
        (answer) => {
          let body = '';
          answer.setEncoding('utf8').on('data', (piece: string) => {
            arrivals.push(performance.now());
            body += piece;
          });
          answer.on('end', () => resolve({ location: answer.headers.location, text: body }));
        },
      );
      asked.on('error', reject);
      asked.end(JSON.stringify({ content: 'go' }));
    });
    expect(framesOf(text).at(-1)?.event).toBe('done');
    expect(location).toMatch(/^\/orion\/api\/turns\/[\w-]+$/u);
    // Not all at once.
    expect((arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0)).toBeGreaterThan(300);
    // The path leads there again, through the proxy and without it.
    for (const path of [location ?? '', (location ?? '').replace('/orion', '')])
      expect((await server.ask(path)).status).toBe(200);
    const line = await waitFor('its line in the log', () =>
      server.log().find(({ path }) => path === '/api/chat/messages'),
    );
    expect(line).toMatchObject({ client: '203.0.113.9', status: 200 });
  } finally {
    proxy.close();
  }
});

test.concurrent('what a client says of itself as a proxy changes nothing', async ({ machine }) => {
  const server = await serve(machine, ['--allow-host', NAME, '--trust-proxy', '192.0.2.1']);
  const forged = {
    'x-forwarded-for': '6.6.6.6',
    'x-forwarded-proto': 'https',
    'x-real-ip': '6.6.6.6',
    forwarded: `for=6.6.6.6;host=${NAME};proto=https`,
    'x-original-url': '/health/live',
    'x-rewrite-url': '/health/live',
  };
  expect(told(await server.ask('/metrics', { headers: forged, token: null }))).toBe(
    '401 UNAUTHORIZED',
  );
  const named = { ...forged, host: 'evil.com', 'x-forwarded-host': NAME };
  expect(told(await server.ask('/metrics', { headers: named }))).toBe('403 HOST_NOT_ALLOWED');
  await waitFor('both lines of the log', () => server.log().length === 2);
  expect(server.log().map(({ client }) => client)).toEqual(['127.0.0.1', '127.0.0.1']);
  expect(server.running.stderr()).not.toContain('6.6.6.6');
});
