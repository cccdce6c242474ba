// A text that is uploaded in any number of parts, some of which break off, is the file byte for byte, or there is none.
import { request } from 'node:http';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { OpenUpload, UploadsAnswer, WrittenUpload } from '@orion/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  codeOf,
  openSocket,
  parseAnswer,
  readToEnd,
  startTestServer,
  TOKEN,
} from '../testing/test-server.ts';
import type { Answer } from '../testing/test-server.ts';
import { BYTES, uploadClient } from '../testing/uploads.ts';

async function startUploads(...options: Parameters<typeof startTestServer>) {
  const server = await startTestServer(...options);
  return {
    ...server,
    ...uploadClient(server.port),
    ask: server.ask,
    uploads: uploadClient(server.port).ask,
  };
}

const outcome = ({ status, json }: Answer): readonly [number, string] => [status, codeOf(json)];
const detailsOf = ({ json }: Answer): Record<string, unknown> =>
  (json as { error: { details: Record<string, unknown> } }).error.details;

describe('a write session', () => {
  it('is begun, uploaded and written, and can be undone', async () => {
    const { uploads, put, finalize, orion, root } = await startUploads();
    const begun = await uploads('', {
      json: { intent: 'x', target_file: 'docs/a.md', operation: 'create', projectId: 'label' },
    });
    const { session_id: id } = begun.json as OpenUpload;
    expect([begun.status, begun.headers['location']]).toEqual([201, `/api/write-sessions/${id}`]);
    expect(await put(id, 0, 'one\n')).toMatchObject({ status: 200, json: { bytes: 4 } });
    expect(await put(id, 4, '')).toMatchObject({ status: 200, json: { bytes: 4, lines: 1 } });
    const wrong = await put(id, 3, 'x');
    expect([...outcome(wrong), detailsOf(wrong)]).toEqual([
      409,
      'OFFSET_MISMATCH',
      { offset: 4, saved_bytes: 4 },
    ]);
    await put(id, 4, Buffer.from('é'));
    const written = await finalize(id, { bytes: 6 });
    expect(written).toMatchObject({
      status: 200,
      json: { status: 'done', target_file: 'docs/a.md', receipt: { bytes: 6, lines: 2 } },
    });
    expect(await readFile(join(root, 'docs/a.md'), 'utf8')).toBe('one\né');
    expect((await finalize(id)).json).toEqual(written.json);
    expect((await uploads(`/${id}`)).json).toEqual(written.json);
    expect(outcome(await put(id, 6, 'x'))).toEqual([409, 'SESSION_WRITTEN']);
    expect(outcome(await uploads(`/${id}/content`))).toEqual([409, 'SESSION_WRITTEN']);
    const traced = (await orion.traces.query({ sessionId: id })).map(({ type }) => type);
    expect(traced).toEqual(
      expect.arrayContaining([
        'write_session_begun',
        'write_session_uploaded',
        'write_session_finalized',
      ]),
    );
    await orion.undo();
    expect(await readdir(join(root, 'docs')).catch(() => [])).toEqual([]);
  });

  it.each<[string, object, number, string]>([
    ['outside of the workspace', { target_file: '../a' }, 400, 'INVALID_TARGET'],
    ['absolute', { target_file: '/etc/passwd' }, 400, 'INVALID_TARGET'],
    ['behind a link', { target_file: 'out/a' }, 400, 'INVALID_TARGET'],
    ['protected', { target_file: '.git/hooks/pre-commit' }, 403, 'PROTECTED_PATH'],
    ['protected by its name', { target_file: '.env' }, 403, 'PROTECTED_PATH'],
    ['with a NUL', { target_file: 'a\0b' }, 400, 'INVALID_TARGET'],
    ['with half a character', { target_file: '\ud800' }, 400, 'INVALID_TARGET'],
    ['that exists', { target_file: 'there' }, 409, 'FILE_EXISTS'],
    ['of no name', { target_file: '' }, 400, 'INVALID_TOOL_ARGUMENTS'],
    ['that is a number', { target_file: 7 }, 400, 'REQUEST_INVALID'],
    ['with its content', { target_file: 'a', content: 'text' }, 400, 'REQUEST_INVALID'],
    ['to delete', { target_file: 'a', operation: 'delete' }, 400, 'REQUEST_INVALID'],
    [
      'of the wrong place',
      { target_file: 'there', operation: 'insert', location: { marker: 1 } },
      400,
      'INVALID_OPERATION',
    ],
    [
      'of a long intent',
      { target_file: 'a', intent: 'x'.repeat(20_000) },
      400,
      'ARGUMENTS_TOO_LARGE',
    ],
  ])('for a target %s is refused', async (_name, given, status, code) => {
    const { uploads, root } = await startUploads();
    await writeFile(join(root, 'there'), 'x');
    await mkdir(join(root, '.git'));
    await symlink('/tmp', join(root, 'out'));
    const json = { intent: 'x', operation: 'create', ...given };
    expect(outcome(await uploads('', { json }))).toEqual([status, code]);
    expect((await uploads('')).json).toEqual({ sessions: [], total: 0 });
  });

  it.each([
    '..%2F..',
    '%00',
    'x'.repeat(201),
    '11111111-1111-4111-8111-111111111111',
    '.',
    '%2e%2e',
  ])('of the id %j is not found', async (id) => {
    const { uploads, put, finalize } = await startUploads();
    const answers = [
      await uploads(`/${id}/content`),
      await put(id, 0, 'x'),
      await finalize(id),
      await uploads(`/${id}/corrections`, { json: { corrections: [] } }),
      await uploads(`/${id}/recover`, { json: {} }),
      await uploads(`/${id}/diff`),
    ];
    for (const answer of answers) expect([400, 404, 405]).toContain(answer.status);
  });

  it('is listed, put aside and brought back', async () => {
    const { uploads, begin, put, finalize } = await startUploads();
    const ids = [await begin('1'), await begin('2'), await begin('3')];
    const list = async (query: string) => (await uploads(query)).json as UploadsAnswer;
    expect((await list('?limit=2')).sessions).toHaveLength(2);
    expect(await list('')).toMatchObject({ total: 3 });
    const [first = ''] = ids;
    await put(first, 0, 'ab');
    expect(await uploads(`/${first}`, { method: 'DELETE' })).toMatchObject({
      status: 200,
      json: { status: 'discarded' },
    });
    expect(await list('')).toMatchObject({ total: 2 });
    expect(outcome(await finalize(first))).toEqual([409, 'SESSION_ABORTED']);
    expect((await uploads(`/${first}`)).json).not.toHaveProperty('recovered_at');
    expect((await uploads(`/${first}/recover`, { json: {} })).json).toMatchObject({ bytes: 2 });
    await put(first, 2, 'c');
    expect((await uploads(`/${first}`)).json).toMatchObject({
      bytes: 3,
      recovered_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/u),
    });
    expect(await finalize(first)).toMatchObject({ status: 200 });
  });

  it('with a key is begun once, however often and at once', async () => {
    const { uploads, put, finalize } = await startUploads();
    const json = { intent: 'x', target_file: 'a', operation: 'create' };
    const headers = { 'idempotency-key': 'key-1' };
    const all = await Promise.all(Array.from({ length: 20 }, () => uploads('', { json, headers })));
    const ids = new Set(all.map((each) => (each.json as OpenUpload).session_id));
    expect([ids.size, all.filter(({ status }) => status === 201).length]).toEqual([1, 1]);
    const [id = ''] = ids;
    await put(id, 0, 'x');
    const other = await uploads('', { json: { ...json, target_file: 'b' }, headers });
    expect(outcome(other)).toEqual([422, 'IDEMPOTENCY_MISMATCH']);
    const end = (body: object) =>
      uploads(`/${id}/finalize`, { json: body, headers: { 'idempotency-key': 'key-2' } });
    const [one, two] = await Promise.all([end({ bytes: 1 }), end({ bytes: 1 })]);
    const done = [one, two].filter(({ status }) => status === 200);
    expect(done.length).toBeGreaterThan(0);
    expect((await end({ bytes: 1 })).json).toEqual(done[0]?.json);
    expect(outcome(await end({}))).toEqual([422, 'IDEMPOTENCY_MISMATCH']);
    expect((await uploads('', { json, headers })).json).toMatchObject({ status: 'done' });
    expect(await finalize(id)).toMatchObject({ status: 200 });
  });
});

describe('an upload', () => {
  it('that is cut anywhere, any number of times, becomes the same file', async () => {
    const server = await startUploads();
    let number = 0;
    const parts = fc.array(
      fc.record({
        length: fc.integer({ min: 0, max: 120_000 }),
        sent: fc.double({ min: 0, max: 1, noNaN: true }),
        isCut: fc.boolean(),
      }),
      { minLength: 1, maxLength: 6 },
    );
    await fc.assert(
      fc.asyncProperty(parts, fc.constantFrom('é😀a\n', '€', 'x'), async (plan, unit) => {
        const total = plan.reduce((sum, { length }) => sum + length, 1);
        const text = Buffer.from(unit.repeat(Math.ceil(total / Buffer.byteLength(unit))));
        const target = `${(number += 1)}.txt`;
        const id = await server.begin(target);
        for (const { length, sent, isCut } of plan) {
          const offset = await server.stored(id);
          const part = text.subarray(offset, offset + length);
          if (isCut) await server.cut(id, offset, part, Math.floor(part.length * sent));
          else expect((await server.put(id, offset, part)).status).toBe(200);
          await expect
            .poll(async () => (await server.find(id)).status, { interval: 2 })
            .not.toBe('in_use');
          const stored = await server.stored(id);
          expect(stored).toBeGreaterThanOrEqual(offset);
          expect(stored).toBeLessThanOrEqual(offset + part.length);
        }
        const offset = await server.stored(id);
        await server.put(id, offset, text.subarray(offset));
        expect((await server.finalize(id, { bytes: text.length })).status).toBe(200);
        expect((await readFile(join(server.root, target))).equals(text)).toBe(true);
      }),
      { numRuns: 8 },
    );
  }, 30_000);

  it('of another client waits for the first one, and is told so', async () => {
    const { begin, put, find, finalize, port, root } = await startUploads();
    const id = await begin();
    const first = request({
      port,
      path: `/api/write-sessions/${id}/content?offset=0`,
      method: 'PUT',
      headers: { ...BYTES, authorization: `Bearer ${TOKEN}`, host: `127.0.0.1:${port}` },
    });
    const answered = new Promise((resolve) => first.on('response', resolve));
    first.write('ab');
    await expect.poll(() => find(id)).toMatchObject({ status: 'in_use', bytes: 2 });
    for (const answer of [await put(id, 0, 'zz'), await put(id, 2, 'zz'), await finalize(id)])
      expect(outcome(answer)).toEqual([409, 'SESSION_BUSY']);
    first.end('c');
    await answered;
    await finalize(id);
    expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('abc');
  });

  it('that stalls is ended, and what has arrived stays', async () => {
    const { begin, port, stored, put } = await startUploads({ limits: { uploadStallMs: 100 } });
    const id = await begin();
    const socket = await openSocket(port);
    const answer = readToEnd(socket);
    socket.write(
      `PUT /api/write-sessions/${id}/content?offset=0 HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n` +
        `Authorization: Bearer ${TOKEN}\r\nContent-Type: application/octet-stream\r\nContent-Length: 10\r\n\r\nabc`,
    );
    const { status, body } = parseAnswer(await answer);
    expect([status, codeOf(JSON.parse(body))]).toEqual([408, 'REQUEST_TIMEOUT']);
    expect(await stored(id)).toBe(3);
    expect((await put(id, 3, 'd')).status).toBe(200);
  });

  it('that is refused while it is sent gets its answer', async () => {
    const { begin, put } = await startUploads({}, { settings: { maxBytes: 1000 } });
    const id = await begin();
    const large = Buffer.alloc(4 * 1024 * 1024, 0x61);
    expect(outcome(await put(id, 5, large))).toEqual([409, 'OFFSET_MISMATCH']);
    expect(outcome(await put(id, 0, large))).toEqual([413, 'CONTENT_TOO_LARGE']);
  });

  it.each([
    ['without an offset', '', 400],
    ['with an offset below zero', '?offset=-1', 400],
    ['with an offset that is no number', '?offset=0x1', 400],
    ['with an offset beyond all numbers', '?offset=99999999999999999999', 400],
    ['with two offsets', '?offset=0&offset=1', 400],
  ])('%s is refused', async (_name, query, status) => {
    const { begin, uploads, stored } = await startUploads();
    const id = await begin();
    const answer = await uploads(`/${id}/content${query}`, {
      method: 'PUT',
      body: 'abc',
      headers: BYTES,
    });
    expect(answer.status).toBe(status);
    expect(await stored(id)).toBe(0);
  });

  it('is not JSON, and no form', async () => {
    const { begin, uploads } = await startUploads();
    const id = await begin();
    for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=x']) {
      const headers = { 'content-type': type };
      const put = { method: 'PUT', body: 'abc', headers };
      const answer = await uploads(`/${id}/content?offset=0`, put);
      expect(outcome(answer)).toEqual([415, 'MEDIA_TYPE_UNSUPPORTED']);
    }
  });
});

describe('text that is not valid', () => {
  it('is named place by place, and corrected', async () => {
    const { begin, put, finalize, uploads, root } = await startUploads();
    const id = await begin();
    await put(id, 0, Buffer.from('a\xffb\0', 'latin1'));
    const refused = await finalize(id);
    expect(outcome(refused)).toEqual([409, 'INVALID_CONTENT']);
    expect(detailsOf(refused)).toMatchObject({
      status: 'needs_corrections',
      attempt: 1,
      max_attempts: 3,
      invalid_count: 2,
      invalid_contexts: [
        { index: 1, byte_offset: 1, context: { before: 'a', invalid: '\\xff', after: 'b\\0' } },
        { index: 2, code: 'nul' },
      ],
    });
    const correct = (corrections: object[]) =>
      uploads(`/${id}/corrections`, { json: { corrections } });
    expect(outcome(await correct([{ index: 3, text: 'x' }]))).toEqual([400, 'USAGE']);
    expect(outcome(await correct([{ index: 1, text: '\ud800' }]))).toEqual([400, 'USAGE']);
    expect(outcome(await correct([{ index: 1, text: '\n' }]))).toEqual([409, 'INVALID_CONTENT']);
    const written = await correct([{ index: 1, text: '.' }]);
    expect((written.json as WrittenUpload).receipt?.validation_summary).toMatchObject({
      attempts: 2,
      corrected: 2,
    });
    expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('a\nb.');
  });
});

describe('what is stored', () => {
  it.each([
    [undefined, 200, '0123456789', undefined],
    ['bytes=2-4', 206, '234', 'bytes 2-4/10'],
    ['bytes=2-2', 206, '2', 'bytes 2-2/10'],
    ['x-bytes=2-4', 200, '0123456789', undefined],
    ['bytes=7-', 206, '789', 'bytes 7-9/10'],
    ['bytes=-3', 206, '789', 'bytes 7-9/10'],
    ['bytes=-99', 206, '0123456789', 'bytes 0-9/10'],
    ['bytes=9-99', 206, '9', 'bytes 9-9/10'],
    ['bytes=4-2', 200, '0123456789', undefined],
    ['bytes=0-1,3-4', 200, '0123456789', undefined],
    ['lines=1-2', 200, '0123456789', undefined],
    ['bytes=-', 200, '0123456789', undefined],
  ])('is read by the range %j', async (range, status, text, contentRange) => {
    const { begin, put, uploads } = await startUploads();
    const id = await begin();
    await put(id, 0, '0123456789');
    const answer = await uploads(`/${id}/content`, {
      headers: range === undefined ? {} : { range },
    });
    expect([answer.status, answer.text, answer.headers['content-range']]).toEqual([
      status,
      text,
      contentRange,
    ]);
    expect(answer.headers['content-type']).toBe('application/octet-stream');
    const head = await uploads(`/${id}/content`, { method: 'HEAD' });
    expect([head.status, head.headers['content-length'], head.text]).toEqual([200, '10', '']);
  });

  it.each(['bytes=10-', 'bytes=-0', 'bytes=11-12'])('has no range %s', async (range) => {
    const { begin, put, uploads } = await startUploads();
    const id = await begin();
    await put(id, 0, '0123456789');
    const answer = await uploads(`/${id}/content`, { headers: { range } });
    expect(outcome(answer)).toEqual([416, 'RANGE_NOT_SATISFIABLE']);
  });

  it('is shown as the change that it would make', async () => {
    const { begin, put, uploads, root } = await startUploads();
    await writeFile(join(root, 'a.txt'), 'old\n');
    const id = await begin('a.txt', { operation: 'overwrite' });
    await put(id, 0, 'new\n');
    expect((await uploads(`/${id}/diff`)).json).toMatchObject({
      target_file: 'a.txt',
      diff: '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n',
      truncated: false,
    });
  });
});

describe('a change that was made meanwhile', () => {
  it('is overwritten only where that is asked for', async () => {
    const { begin, put, finalize, uploads, root } = await startUploads();
    await writeFile(join(root, 'a.txt'), 'old');
    const id = await begin('a.txt', { operation: 'overwrite' });
    await put(id, 0, 'new');
    await writeFile(join(root, 'a.txt'), 'by hand');
    expect(outcome(await finalize(id))).toEqual([409, 'TARGET_CHANGED']);
    const recover = (json: object) => uploads(`/${id}/recover`, { json });
    expect(outcome(await recover({ onConflict: 'overwrite' }))).toEqual([400, 'USAGE']);
    expect(outcome(await recover({ finalize: true, endAt: 1 }))).toEqual([400, 'USAGE']);
    expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('by hand');
    expect(await recover({ finalize: true, onConflict: 'overwrite' })).toMatchObject({
      status: 200,
    });
    expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('new');
  });
});
