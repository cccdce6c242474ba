// B28: clients that are slow, silent or many cost little, and the others do not notice them.
import type { Socket } from 'node:net';

import { expect, it } from 'vitest';

import { readToEnd, SERVER_TOKEN, sharedServer, toldOf } from './support/serve.ts';
import { waitFor } from './support/wait.ts';

const server = sharedServer();

const start = (line: string): string =>
  `${line}\r\nHost: 127.0.0.1:${server().port}\r\nAuthorization: Bearer ${SERVER_TOKEN}\r\n`;

/** The others are answered, one after the other. */
async function askOften(times: number): Promise<void> {
  for (let time = 0; time < times; time += 1)
    expect((await server().ask('/health/live')).status).toBe(200);
}

async function openMany(count: number): Promise<readonly Socket[]> {
  const sockets: Socket[] = [];
  // The queue of connections that wait to be taken is short.
  while (sockets.length < count)
    sockets.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(100, count - sockets.length) }, () => server().open()),
      )),
    );
  return sockets;
}

it.concurrent(
  'heads that arrive a byte a second, bodies that do not arrive, and answers that nobody reads',
  { timeout: 40_000, tags: ['long'] },
  async () => {
    const heads = await openMany(300);
    const bodies = await openMany(100);
    const readers = await openMany(20);
    const headsEnd = heads.map((socket) => readToEnd(socket));
    const bodiesEnd = bodies.map((socket) => readToEnd(socket));
    for (const socket of heads) socket.write(start('GET /health/live HTTP/1.1'));
    for (const socket of bodies)
      socket.write(
        `${start('POST /api/turns/none/cancel HTTP/1.1')}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
      );
    for (const socket of readers) {
      socket.on('error', () => undefined);
      socket.pause();
      for (let time = 0; time < 5; time += 1) socket.write(`${start('GET /metrics HTTP/1.1')}\r\n`);
    }
    const drip = setInterval(() => {
      for (const socket of heads) if (socket.writable) socket.write('x');
      for (const socket of bodies) if (socket.writable) socket.write(' ');
    }, 1000);
    try {
      await askOften(20);
      const said = (all: readonly string[]): ReadonlySet<string> =>
        new Set(all.flatMap((text) => toldOf(text)));
      expect(said(await Promise.all(headsEnd))).toEqual(new Set(['408 REQUEST_TIMEOUT']));
      expect(said(await Promise.all(bodiesEnd))).toEqual(new Set(['408 REQUEST_TIMEOUT']));
      await askOften(5);
    } finally {
      clearInterval(drip);
      for (const socket of readers) socket.destroy();
    }
  },
);

it.concurrent('a thousand silent connections', async () => {
  const { ask } = server();
  const sockets = await openMany(1000);
  const text = async (): Promise<string> => (await ask('/metrics')).text;
  expect(await text()).toMatch(/orion_http_connections\{[^}]*\} 1\d{3}\n/u);
  await askOften(20);
  for (const socket of sockets) socket.destroy();
  await waitFor('the connections to be gone', async () =>
    /orion_http_connections\{[^}]*\} \d{1,2}\n/u.test(await text()),
  );
}, 40_000);
