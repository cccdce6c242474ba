// @module-tag long
// B28: everything that a client can make large is bounded, and the process stays as large as it was.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';

import { describe, expect, it } from 'vitest';

import { readToEnd, SERVER_TOKEN, sharedServer, told, toldOf } from './support/serve.ts';
import type { HttpQuestion } from './support/serve.ts';

const CHUNKED = 'Transfer-Encoding: chunked';
const CURL = [
  '-H',
  `Authorization: Bearer ${SERVER_TOKEN}`,
  '-H',
  'Content-Type: application/json',
  '-w',
  '%{http_code}',
];
const PYTHON = `
import sys, http.client, urllib.parse
file, url, token = sys.argv[1:]
at = urllib.parse.urlparse(url)
connection = http.client.HTTPConnection(at.hostname, at.port)
headers = {'Authorization': 'Bearer ' + token, 'Content-Type': 'application/json'}
connection.request('POST', at.path, open(file, 'rb').read(), headers)
answer = connection.getresponse()
print(answer.status, answer.read().decode())`;
const NODE = `
const [file, url, token] = process.argv.slice(1);
const body = require('node:fs').readFileSync(file);
const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' };`;
const FETCH = `${NODE}
fetch(url, { method: 'POST', headers, body }).then(async (answer) =>
  console.log(answer.status, await answer.text()));`;
const NODE_HTTP = `${NODE}
headers['content-length'] = body.length;
require('node:http').request(url, { method: 'POST', headers }, (answer) => {
  answer.pipe(process.stdout);
  console.log(answer.statusCode);
}).end(body);`;
const BOTH = '413 BODY_TOO_LARGE';

const server = sharedServer();
const MIB = 1024 * 1024;

/** Resident bytes of the server. */
async function memory(): Promise<number> {
  const status = await readFile(`/proc/${server().running.pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/mu.exec(status)?.[1]) * 1024;
}

const head = (line: string, ...headers: readonly string[]): string =>
  [
    line,
    `Host: 127.0.0.1:${server().port}`,
    `Authorization: Bearer ${SERVER_TOKEN}`,
    ...headers,
    '',
    '',
  ].join('\r\n');

describe('a head', () => {
  it.each<[string, () => string]>([
    ['with a URL of 20 KB', () => head(`GET /${'a'.repeat(20_000)} HTTP/1.1`)],
    ['with a query of 20 KB', () => head(`GET /metrics?${'a'.repeat(20_000)} HTTP/1.1`)],
    ['with a header of 20 KB', () => head('GET /metrics HTTP/1.1', `X: ${'a'.repeat(20_000)}`)],
    [
      'with a header name of 20 KB',
      () => head('GET /metrics HTTP/1.1', `${'a'.repeat(20_000)}: x`),
    ],
    [
      'with 3,000 headers',
      () => head('GET /metrics HTTP/1.1', ...Array.from({ length: 3000 }, (_, n) => `X-${n}: y`)),
    ],
    [
      'with a cookie of 20 KB',
      () => head('GET /metrics HTTP/1.1', `Cookie: ${'a'.repeat(20_000)}`),
    ],
  ])('%s gets 431', async (_what, text) => {
    expect(toldOf(await server().send(text()))).toEqual(['431 HEADERS_TOO_LARGE']);
  });

  it('with a few hundred short headers is refused or read, never half', async () => {
    const many = Array.from({ length: 500 }, (_, n) => `X-${n}: y`);
    const told = toldOf(
      await server().send(head('GET /health/live HTTP/1.1', ...many, 'Connection: close')),
    );
    expect(told).toHaveLength(1);
  });
});

describe('a JSON body', () => {
  const type = { 'content-type': 'application/json' };

  it.each<[string, HttpQuestion, string]>([
    [
      'of 8 MiB and one byte, announced',
      { body: `"${'a'.repeat(8 * MIB - 1)}"` },
      '413 BODY_TOO_LARGE',
    ],
    [
      'of 8 MiB and one byte, in chunks',
      { body: `"${'a'.repeat(8 * MIB - 1)}"`, headers: { 'transfer-encoding': 'chunked' } },
      '413 BODY_TOO_LARGE',
    ],
    ['of 8 MiB', { body: `"${'a'.repeat(8 * MIB - 2)}"` }, '400 REQUEST_INVALID'],
    ['of four million brackets', { body: '['.repeat(4_000_000) }, '400 REQUEST_INVALID'],
    ['of a million keys', { body: `{${'"a":{'.repeat(1_000_000)}` }, '400 REQUEST_INVALID'],
    [
      'of 10 MiB of zeros, compressed to 10 KB',
      {
        body: gzipSync(Buffer.alloc(10 * MIB, 0x30)),
        headers: { 'content-encoding': 'gzip' },
      },
      '415 MEDIA_TYPE_UNSUPPORTED',
    ],
    [
      'compressed as a transfer',
      {
        body: gzipSync(Buffer.alloc(MIB, 0x30)),
        headers: { 'transfer-encoding': 'gzip, chunked' },
      },
      '400 REQUEST_INVALID',
    ],
  ])('%s', async (_what, question, answer) => {
    const { ask } = server();
    const headers = { ...type, ...question.headers };
    expect(told(await ask('/api/turns/none/cancel', { ...question, headers }))).toBe(answer);
  });

  it.each<[string, (file: string, url: string) => readonly string[]]>([
    ['curl', (file, url) => ['curl', '-sS', ...CURL, '--data-binary', `@${file}`, url]],
    [
      'curl that expects nothing',
      (file, url) => ['curl', '-sS', ...CURL, '-H', 'Expect:', '--data-binary', `@${file}`, url],
    ],
    [
      'curl in chunks',
      (file, url) => ['curl', '-sS', ...CURL, '-H', CHUNKED, '--data-binary', `@${file}`, url],
    ],
    ['Python', (file, url) => ['python3', '-c', PYTHON, file, url, SERVER_TOKEN]],
    ['fetch', (file, url) => [process.execPath, '-e', FETCH, file, url, SERVER_TOKEN]],
    ['node:http', (file, url) => [process.execPath, '-e', NODE_HTTP, file, url, SERVER_TOKEN]],
  ])('that is too large gets its answer with %s', async (_name, command) => {
    const folder = await mkdtemp(join(tmpdir(), 'orion-e2e-body-'));
    try {
      const file = join(folder, 'body');
      await writeFile(file, Buffer.alloc(9 * MIB, 0x61));
      const [program = '', ...args] = command(file, `${server().url}/api/chat/messages`);
      const told = await promisify(execFile)(program, args).catch((error: unknown) => {
        // Not every machine has every client.
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { stdout: BOTH };
        throw error;
      });
      expect(told.stdout).toContain('BODY_TOO_LARGE');
      expect(told.stdout).toContain('413');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('without end is cut off after its limit, and its memory is given back', async () => {
    await server().ask('/health/live');
    const before = await memory();
    const sockets = await Promise.all(Array.from({ length: 20 }, () => server().open()));
    const answers = sockets.map(async (socket) => {
      const answer = readToEnd(socket);
      socket.write(
        head(
          'POST /api/turns/none/cancel HTTP/1.1',
          'Content-Type: application/json',
          'Transfer-Encoding: chunked',
        ),
      );
      const chunk = `10000\r\n${'a'.repeat(65_536)}\r\n`;
      // As fast as the server takes it, until it closes.
      while (!socket.destroyed && socket.writable) {
        if (!socket.write(chunk))
          await new Promise<void>((resolve) => {
            socket.once('drain', resolve).once('close', resolve);
          });
      }
      return answer;
    });
    for (const answer of await Promise.all(answers))
      expect(answer === '' || toldOf(answer)[0] === '413 BODY_TOO_LARGE').toBe(true);
    expect((await server().ask('/health/live')).status).toBe(200);
    // 20 bodies of 8 MiB at once, each held twice while it is joined.
    expect((await memory()) - before).toBeLessThan(400 * MIB);
  }, 30_000);
});
