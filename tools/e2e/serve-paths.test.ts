// What a client puts into a path, an id or a header stays text: no file is read by it, and no header or line is made of it.
import { expect, it } from 'vitest';

import { codeOf, SERVER_TOKEN, sharedServer, toldOf } from './support/serve.ts';

const server = sharedServer();

const OUTSIDE = [
  '../../../../etc/passwd',
  '..%2f..%2f..%2fetc%2fpasswd',
  '%2e%2e/%2e%2e/etc/passwd',
];
const STRANGE = [
  '..',
  '.',
  '%00',
  'a%00.json',
  '%ff',
  '%',
  '%zz',
  'con',
  '__proto__',
  'a'.repeat(4000),
];
const PLACES = [
  '/',
  '/docs/',
  '/health/',
  '/api/',
  '/api/conversations/',
  '/api/turns/',
  '/api/traces/',
  '/api/write-sessions/',
  '/api/tool-outputs/',
  '/api/changes/',
];

it.each(PLACES)('no path below %s leads to a file', async (place) => {
  for (const id of [...OUTSIDE, ...STRANGE]) {
    const { status, json, text } = await server().ask(`${place}${id}`);
    expect([id, status < 500, status >= 400]).toEqual([id, true, true]);
    expect(codeOf(json)).not.toBe('');
    expect(text).not.toContain('root:');
  }
});

it('a path with what ends a header makes none, in the answer and in the log', async () => {
  const { ask, running, log } = server();
  for (const line of ['%0d%0aSet-Cookie:%20a=b', '%0aX-Injected:%201', '%E2%80%A8X:%201']) {
    const { headers } = await ask(`/api/conversations/${encodeURI(line)}?x=${line}`);
    expect(headers['set-cookie'] ?? headers['x-injected']).toBeUndefined();
  }
  expect(
    running
      .stderr()
      .split('\n')
      .every((line) => line === '' || line.startsWith('{') || line.startsWith('Page: http://')),
  ).toBe(true);
  expect(log().at(-1)).toMatchObject({ msg: 'request', status: 400 });
});

it.each([
  '../outside.txt',
  '/etc/outside.txt',
  'a/../../outside.txt',
  '.git/hooks/x',
  'a\u0000b',
  '',
])('no write session begins for %j', async (target) => {
  const { ask } = server();
  const begin = { intent: 't', target_file: target, operation: 'create' };
  const { status, json } = await ask('/api/write-sessions', { json: begin });
  expect([status, codeOf(json)]).toEqual([
    expect.toSatisfy((code: number) => code === 400 || code === 403),
    expect.stringMatching(/^[A-Z_]+$/u),
  ]);
});

it.each([
  ['a line break in the path', 'GET /a\r\nX: y HTTP/1.1'],
  ['a blank in the path', 'GET /a b HTTP/1.1'],
  ['a tab in the path', 'GET /a\tb HTTP/1.1'],
  ['a zero byte in the path', 'GET /a\u0000b HTTP/1.1'],
  ['no path', 'GET  HTTP/1.1'],
  ['a star', 'GET * HTTP/1.1'],
  ['a path without its slash', 'GET metrics HTTP/1.1'],
])('%s is refused', async (_what, line) => {
  const { send, port } = server();
  const answer = await send(
    `${line}\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${SERVER_TOKEN}\r\nConnection: close\r\n\r\n`,
  );
  expect(toldOf(answer)).toEqual(['400 REQUEST_INVALID']);
});

it('a control character in a header is refused, and never logged as it is', async () => {
  const { send, port, running } = server();
  for (const value of ['a\u001b[31mred', 'a\u0007b', 'a\u007fb']) {
    const answer = await send(
      `GET /health/live HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUser-Agent: ${value}\r\nConnection: close\r\n\r\n`,
    );
    expect(toldOf(answer)).toHaveLength(1);
  }
  for (const character of ['\u0007', '\u001b', '\u007f'])
    expect(running.stderr()).not.toContain(character);
});
