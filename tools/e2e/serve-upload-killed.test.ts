// @module-tag long
// Hazard: a server that is killed in the middle of an upload, or while it writes a file, loses text or writes half of it.
import { createHash } from 'node:crypto';

import { expect } from 'vitest';

import { serve, SERVER_TOKEN } from './support/serve.ts';
import type { ServedProcess } from './support/serve.ts';
import { test } from './support/test.ts';
import { waitFor } from './support/wait.ts';

const MIB = 1024 * 1024;
/** When a server is killed after it was told to write a file, in milliseconds. */
const MOMENTS = [
  { moments: [40], tags: [] },
  { moments: [1, 15, 90], tags: ['long'] },
];

type Found = { readonly session_id: string; readonly status: string; readonly bytes: number };

/** Lines of different content, so that no part of the text is like another. */
function textOf(bytes: number, seed: string): Buffer {
  const lines: string[] = [];
  for (let length = 0, line = 0; length < bytes; line += 1) {
    const hash = createHash('sha256').update(`${seed}${line}`).digest('base64');
    const text = `${line} ${hash} é\n`.repeat(16);
    lines.push(text);
    length += Buffer.byteLength(text);
  }
  return Buffer.from(lines.join('')).subarray(0, bytes);
}

function begin({ ask }: ServedProcess, target: string): Promise<string> {
  const json = { intent: 'a test', target_file: target, operation: 'create' };
  return ask('/api/write-sessions', { json }).then((answer) => (answer.json as Found).session_id);
}

function put({ ask }: ServedProcess, id: string, offset: number, body: Uint8Array) {
  return ask(`/api/write-sessions/${id}/content?offset=${offset}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/octet-stream' },
    body,
  });
}

async function find({ ask }: ServedProcess, id: string): Promise<Found> {
  return (await ask(`/api/write-sessions/${id}`)).json as Found;
}

async function kill({ running }: ServedProcess): Promise<void> {
  running.kill('SIGKILL');
  await running.finished;
}

test('an upload goes on with the bytes on disk', async ({ machine }) => {
  const text = textOf(6 * MIB, 'upload');
  const first = await serve(machine);
  const id = await begin(first, 'a.txt');
  const socket = await first.open();
  socket.on('error', () => undefined);
  socket.write(
    `PUT /api/write-sessions/${id}/content?offset=0 HTTP/1.1\r\nHost: 127.0.0.1:${first.port}\r\n` +
      `Authorization: Bearer ${SERVER_TOKEN}\r\nContent-Type: application/octet-stream\r\n` +
      `Content-Length: ${text.length}\r\n\r\n`,
  );
  const sent = 4 * MIB + 5;
  socket.write(text.subarray(0, sent));
  // What is older than 100 ms is in the hands of the operating system.
  await waitFor('the bytes', async () => ((await find(first, id)).bytes === sent ? true : null));
  await new Promise((resolve) => setTimeout(resolve, 150));
  await kill(first);
  expect(await machine.exists('a.txt')).toBe(false);
  const second = await serve(machine);
  expect(await find(second, id)).toMatchObject({ status: 'open', bytes: sent });
  const stored = await second.ask(`/api/write-sessions/${id}/content`, {
    headers: { range: `bytes=${sent - 100}-` },
  });
  expect(stored.text).toBe(text.subarray(sent - 100, sent).toString());
  expect((await put(second, id, sent, text.subarray(sent))).status).toBe(200);
  const json = { bytes: text.length };
  expect((await second.ask(`/api/write-sessions/${id}/finalize`, { json })).status).toBe(200);
  expect((await machine.read('a.txt')).equals(text)).toBe(true);
}, 60_000);

for (const { moments, tags } of MOMENTS) {
  const title = `a file is there as a whole or not at all after ${moments.join(' and ')} ms, and is written once`;
  test(title, { timeout: 120_000, tags }, async ({ machine }) => {
    const text = textOf(8 * MIB, 'finalize');
    let server = await serve(machine);
    for (const moment of moments) {
      const target = `${moment}.txt`;
      const id = await begin(server, target);
      expect((await put(server, id, 0, text)).status).toBe(200);
      const json = { bytes: text.length };
      const answer = server
        .ask(`/api/write-sessions/${id}/finalize`, { json, headers: { 'idempotency-key': target } })
        .catch(() => null);
      await new Promise((resolve) => setTimeout(resolve, moment));
      await kill(server);
      const told = await answer;
      const isThere = await machine.exists(target);
      if (isThere) expect((await machine.read(target)).equals(text)).toBe(true);
      if (told !== null) expect(isThere).toBe(true);
      server = await serve(machine);
      const found = await find(server, id);
      expect(['open', 'finalizing', 'done']).toContain(found.status);
      const again = await server.ask(`/api/write-sessions/${id}/finalize`, {
        json,
        headers: { 'idempotency-key': target },
      });
      expect(again, JSON.stringify(found)).toMatchObject({
        status: 200,
        json: { status: 'done', sha256: createHash('sha256').update(text).digest('hex') },
      });
      expect((await machine.read(target)).equals(text)).toBe(true);
    }
    expect((await server.ask('/api/write-sessions')).json).toEqual({ sessions: [], total: 0 });
    await kill(server);
    // One change for each file, and nothing else.
    for (const moment of moments.toReversed()) {
      expect((await machine.run(['undo'])).exitCode).toBe(0);
      expect(await machine.exists(`${moment}.txt`)).toBe(false);
    }
  });
}
