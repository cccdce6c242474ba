/** Hazard: a request fails, and its key answers for a day as if it had made something; or one that came to something is free. */
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { OpenUpload } from '@orion/contracts';
import { interceptDisk } from '@orion/testkit/disk-faults';
import { expect, it, onTestFinished } from 'vitest';

import { codeOf, startTestServer } from '../testing/test-server.ts';
import type { Answer } from '../testing/test-server.ts';
import { uploadClient } from '../testing/uploads.ts';

async function startUploads() {
  const server = await startTestServer();
  const client = uploadClient(server.port);
  const begin = (target_file: string, key = 'k', operation = 'create'): Promise<Answer> =>
    client.ask('', {
      json: { intent: 'x', target_file, operation },
      headers: { 'idempotency-key': key },
    });
  return { ...server, ...client, begin };
}

const outcome = ({ status, json }: Answer): number | string =>
  status < 300 ? status : codeOf(json);
const idOf = ({ json }: Answer): string => (json as OpenUpload).session_id;

it('a begin that failed leaves its key to another request, or to the same one later (R287)', async () => {
  const { begin, root } = await startUploads();
  await writeFile(join(root, 'there'), 'x');
  expect(outcome(await begin('there'))).toBe('FILE_EXISTS');
  expect(outcome(await begin('there'))).toBe('FILE_EXISTS');
  const begun = await begin('a');
  expect(outcome(begun)).toBe(201);
  expect(outcome(await begin('b'))).toBe('IDEMPOTENCY_MISMATCH');
  expect(outcome(await begin('there'))).toBe('IDEMPOTENCY_MISMATCH');
  const repeated = await begin('a');
  expect([outcome(repeated), idOf(repeated)]).toEqual([200, idOf(begun)]);

  expect(outcome(await begin('there', 'other'))).toBe('FILE_EXISTS');
  await rm(join(root, 'there'));
  expect(outcome(await begin('there', 'other'))).toBe(201);
  expect(outcome(await begin('there', 'other'))).toBe(200);
});

it('what a begin has made keeps its key: open, discarded and written', async () => {
  const { begin, put, finalize, ask } = await startUploads();
  const id = idOf(await begin('a'));
  const mismatch = async () => expect(outcome(await begin('b'))).toBe('IDEMPOTENCY_MISMATCH');
  await mismatch();
  await ask(`/${id}`, { method: 'DELETE' });
  await mismatch();
  await ask(`/${id}/recover`, { json: {} });
  await put(id, 0, 'x');
  await finalize(id);
  await mismatch();
  expect((await begin('a')).json).toMatchObject({ session_id: id, status: 'done' });
});

it('a finalize that failed leaves its key to another one, and one that wrote keeps it', async () => {
  const { begin, ask } = await startUploads();
  const id = idOf(await begin('a'));
  const finalize = (json: object) =>
    ask(`/${id}/finalize`, { json, headers: { 'idempotency-key': 'end' } });
  expect(outcome(await finalize({}))).toBe('EMPTY_CONTENT');
  expect(outcome(await finalize({ allowEmpty: true }))).toBe(200);
  expect(outcome(await finalize({}))).toBe('IDEMPOTENCY_MISMATCH');
  expect(outcome(await finalize({ allowEmpty: true }))).toBe(200);
});

it('of several requests with one key at once, which differ, one is begun', async () => {
  const { begin, ask, root } = await startUploads();
  await writeFile(join(root, 'there'), 'x');
  const targets = ['a', 'there', 'b', 'a', 'there', 'c'];
  const answers = await Promise.all(targets.map((target) => begin(target)));
  const begun = answers.filter(({ status }) => status < 300);
  expect(new Set(begun.map(idOf)).size).toBe(1);
  expect((await ask('')).json).toMatchObject({ total: 1 });
});

it.each([
  ['a killed process has taken for a session is free, as nothing was made', 'begin', 201],
  ['names a turn is none of a session', 'POST /api/chat/messages', 'IDEMPOTENCY_MISMATCH'],
])('a key that %s', async (_name, route, wanted) => {
  const { begin, orion } = await startUploads();
  const key = { key: 'k', route, bodySha256: 'aa' };
  await orion.store.requestKeys.claim(orion.projectId, key, randomUUID());
  expect(outcome(await begin('a'))).toBe(wanted);
});

it('a key that is new costs no look at what was written before', async () => {
  const { begin, put, finalize } = await startUploads();
  for (const target of ['1', '2', '3', '4', '5']) {
    const id = idOf(await begin(target, target));
    await put(id, 0, 'x');
    await finalize(id);
  }
  let manifests = 0;
  const disk = await interceptDisk();
  onTestFinished(() => disk.restore());
  disk.use(({ name, path }) => {
    if (name === 'open' && path.endsWith('manifest.json')) manifests += 1;
    return null;
  });
  expect(outcome(await begin('6', '6'))).toBe(201);
  expect(manifests).toBe(0);
});
