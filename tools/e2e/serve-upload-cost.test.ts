// @module-tag long
// Hazard: a large upload, or a session with a long text, costs the server memory or time out of proportion.
import { readFile } from 'node:fs/promises';

import { expect, it } from 'vitest';

import { sharedServer } from './support/serve.ts';

const server = sharedServer();
const MIB = 1024 * 1024;
const BYTES = { 'content-type': 'application/octet-stream' };

async function begin(target: string): Promise<string> {
  const json = { intent: 'a test', target_file: target, operation: 'create' };
  const { json: begun } = await server().ask('/api/write-sessions', { json });
  return (begun as { session_id: string }).session_id;
}

async function put(id: string, offset: number, body: Uint8Array): Promise<void> {
  const path = `/api/write-sessions/${id}/content?offset=${offset}`;
  const { status } = await server().ask(path, { method: 'PUT', headers: BYTES, body });
  expect(status).toBe(200);
}

async function write(target: string, body: Uint8Array): Promise<void> {
  const id = await begin(target);
  await put(id, 0, body);
  const json = { bytes: body.length };
  const { status } = await server().ask(`/api/write-sessions/${id}/finalize`, { json });
  expect(status).toBe(200);
}

/** The most memory that the process has had so far, in bytes. */
async function mostMemory(): Promise<number> {
  const status = await readFile(`/proc/${server().running.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+)/u.exec(status)?.[1]) * 1024;
}

it('150 MB do not pass through memory', async ({ skip }) => {
  skip(process.platform !== 'linux', 'there is no /proc to read');
  const text = Buffer.alloc(50 * MIB, 'a line of a text, and then some\n');
  await write('small.txt', text.subarray(0, 8 * MIB));
  const before = await mostMemory();
  for (const target of ['1.txt', '2.txt', '3.txt']) await write(target, text);
  // What a socket has read is garbage until it is collected: that takes the space of a part of one upload.
  expect(((await mostMemory()) - before) / MIB).toBeLessThan(90);
});

it('a part costs the same, however much is stored before it', async () => {
  const part = Buffer.alloc(1000, 'x\n');
  const parts = async (id: string, stored: number): Promise<number> => {
    const began = performance.now();
    for (let index = 0; index < 60; index += 1) await put(id, stored + index * 1000, part);
    return performance.now() - began;
  };
  const empty = await begin('empty.txt');
  const full = await begin('full.txt');
  await put(full, 0, Buffer.alloc(50 * MIB, 'y\n'));
  await parts(await begin('warm.txt'), 0);
  expect(await parts(full, 50 * MIB)).toBeLessThan(4 * (await parts(empty, 0)) + 200);
});
