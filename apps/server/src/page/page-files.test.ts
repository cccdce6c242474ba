import { gzipSync } from 'node:zlib';
import { createServer, request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, it, onTestFinished } from 'vitest';

import { createPageFiles, PAGE_POLICY } from './page-files.ts';

/** Hazard: a path leads to a file that is not of the page, or the page may do more than it needs (W1, W4). */

const gzip = (text: string): string => gzipSync(text).toString('base64');
const HTML = '<title>Orion</title><script src="/assets/a-1.js"></script>';
const EMBEDDED = [
  { name: 'index.html', type: 'text/html; charset=utf-8', gzip: gzip(HTML) },
  { name: 'assets/a-1.js', type: 'text/javascript; charset=utf-8', gzip: gzip('1') },
];
const files = createPageFiles(EMBEDDED);

it.each([
  '/',
  '/connect',
  '/c',
  '/c/some-id',
  '/w',
  '/w/id',
  '/changes',
  '/plan',
  '/t',
  '/t/id',
  '/a/id',
  '/assets/a-1.js',
])('has %s', (path) => {
  expect(files.has(path)).toBe(true);
});

it.each([
  '/index.html',
  '/assets/',
  '/assets/a-2.js',
  '/assets/../index.html',
  '/c/a/b',
  '/a',
  '/c/',
  '//',
  '/x',
  '/assets/__proto__',
  '/connect/',
  '/assets/a-1.js/',
  '/%61ssets/a-1.js',
  '/api/conversations',
  '',
])('does not have %s', (path) => {
  expect(files.has(path)).toBe(false);
});

it('has nothing where the page was not built', () => {
  expect(createPageFiles([]).has('/')).toBe(false);
});

it('answers with the text, compressed for whoever takes that, under the policy of the page', async () => {
  const server = createServer((asked, answer) => files.answer(asked, answer)).listen(
    0,
    '127.0.0.1',
  );
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const ask = (path: string, method: string, encoding: string) =>
    new Promise<{ headers: IncomingHttpHeaders; body: string }>((resolve, reject) => {
      const headers = { 'accept-encoding': encoding };
      request({ port, host: '127.0.0.1', path, method, headers, agent: false }, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('end', () =>
          resolve({ headers: answer.headers, body: Buffer.concat(parts).toString('latin1') }),
        );
      })
        .on('error', reject)
        .end();
    });
  const plain = await ask('/connect?x=1', 'GET', '');
  expect(plain.body).toBe(`<meta name="orion-page" content="${files.version}">${HTML}`);
  expect(plain.headers).toMatchObject({
    'content-security-policy': PAGE_POLICY,
    'cache-control': 'no-store',
    'content-type': 'text/html; charset=utf-8',
  });
  const packed = await ask('/assets/a-1.js', 'GET', 'br, gzip');
  expect(packed.headers).toMatchObject({
    'content-encoding': 'gzip',
    'cache-control': expect.stringContaining('immutable'),
  });
  expect(packed.body).toBe(gzipSync('1').toString('latin1'));
  expect((await ask('/assets/a-1.js', 'GET', 'gzip;q=0, br')).body).toBe('1');
  expect(await ask('/', 'HEAD', '')).toMatchObject({
    body: '',
    headers: { 'content-length': String(plain.body.length) },
  });
});

it('names its files below the base path, and has a version that changes with them alone', async () => {
  const [document, asset] = EMBEDDED;
  if (document === undefined || asset === undefined) throw new Error('there are two');
  const below = createPageFiles(EMBEDDED, '/some/path');
  expect(below.version).toBe(files.version);
  expect(files.version).toMatch(/^[0-9a-f]{16}$/u);
  const newer = createPageFiles([{ ...document, gzip: gzip(HTML.replace('a-1', 'a-2')) }, asset]);
  expect(newer.version).not.toBe(files.version);
  const body = await new Promise<string>((resolve) => {
    const response = { writeHead: () => undefined, end: (bytes: Buffer) => resolve(String(bytes)) };
    below.answer({ url: '/w', headers: {} } as never, response as never);
  });
  expect(body).toContain('src="/some/path/assets/a-1.js"');
});

it.each(['', 'gzip'])('a file is unpacked once, however often it is asked for (%j)', (encoding) => {
  const bodies: Buffer[] = [];
  const response = { writeHead: () => undefined, end: (bytes: Buffer) => bodies.push(bytes) };
  const asked = { url: '/w', headers: { 'accept-encoding': encoding } };
  for (let at = 0; at < 2; at += 1) files.answer(asked as never, response as never);
  expect(bodies[0]).toBeInstanceOf(Buffer);
  expect(bodies[1]).toBe(bodies[0]);
});
