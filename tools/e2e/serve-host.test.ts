// B9: a page of another site whose name leads to this machine cannot talk to the server as if it were its own.
import { expect, it } from 'vitest';

import { SERVER_TOKEN, sharedServer, toldOf } from './support/serve.ts';

const server = sharedServer([
  '--allow-host',
  'orion.example.com',
  '--allow-host',
  'other.example:8443',
]);

/** What comes back when exactly these lines name the host. */
async function asked(requestLine: string, hostLines: string): Promise<readonly string[]> {
  const { port, send } = server();
  const fill = (text: string): string => text.replaceAll('PORT', String(port));
  return toldOf(
    await send(
      `${fill(requestLine)}\r\n${fill(hostLines)}Authorization: Bearer ${SERVER_TOKEN}\r\nConnection: close\r\n\r\n`,
    ),
  );
}

it.each([
  ['127.0.0.1:PORT', '200'],
  ['localhost:PORT', '200'],
  ['LocalHost:PORT', '200'],
  ['[::1]:PORT', '200'],
  ['orion.example.com', '200'],
  ['orion.example.com:PORT', '200'],
  ['other.example:8443', '200'],
  ['other.example', '403 HOST_NOT_ALLOWED'],
  ['other.example:443', '403 HOST_NOT_ALLOWED'],
  ['evil.com', '403 HOST_NOT_ALLOWED'],
  ['evil.com:PORT', '403 HOST_NOT_ALLOWED'],
  ['localhost.evil.com:PORT', '403 HOST_NOT_ALLOWED'],
  ['localhost.:PORT', '403 HOST_NOT_ALLOWED'],
  ['127.0.0.1.nip.io:PORT', '403 HOST_NOT_ALLOWED'],
  ['127.0.0.1', '403 HOST_NOT_ALLOWED'],
  ['127.0.0.1:1', '403 HOST_NOT_ALLOWED'],
  ['127.1:PORT', '403 HOST_NOT_ALLOWED'],
  ['2130706433:PORT', '403 HOST_NOT_ALLOWED'],
  ['[::ffff:127.0.0.1]:PORT', '403 HOST_NOT_ALLOWED'],
  ['127.0.0.1:PORT@evil.com', '403 HOST_NOT_ALLOWED'],
  ['evil.com@127.0.0.1:PORT', '403 HOST_NOT_ALLOWED'],
  ['0.0.0.0:PORT', '403 HOST_NOT_ALLOWED'],
  ['orion.example.com.evil.com', '403 HOST_NOT_ALLOWED'],
  ['xorion.example.com', '403 HOST_NOT_ALLOWED'],
  ['', '403 HOST_NOT_ALLOWED'],
])('Host: %s gets %s', async (host, answer) => {
  expect(await asked('GET /metrics HTTP/1.1', `Host: ${host}\r\n`)).toEqual([answer]);
});

it.each<[what: string, line: string, hosts: string, answer: string]>([
  ['no Host', 'GET /metrics HTTP/1.1', '', '403 HOST_NOT_ALLOWED'],
  ['no Host, in HTTP/1.0', 'GET /metrics HTTP/1.0', '', '403 HOST_NOT_ALLOWED'],
  [
    'two of them, the first right',
    'GET /metrics HTTP/1.1',
    'Host: 127.0.0.1:PORT\r\nHost: evil.com\r\n',
    '400 REQUEST_INVALID',
  ],
  [
    'two of them, the last right',
    'GET /metrics HTTP/1.1',
    'Host: evil.com\r\nhost: 127.0.0.1:PORT\r\n',
    '400 REQUEST_INVALID',
  ],
  [
    'a URL in the request line',
    'GET http://evil.com/metrics HTTP/1.1',
    'Host: 127.0.0.1:PORT\r\n',
    '400 REQUEST_INVALID',
  ],
  [
    'our own URL in the request line',
    'GET http://127.0.0.1:PORT/metrics HTTP/1.1',
    'Host: evil.com\r\n',
    '403 HOST_NOT_ALLOWED',
  ],
  [
    'another host behind two slashes',
    'GET //evil.com/metrics HTTP/1.1',
    'Host: 127.0.0.1:PORT\r\n',
    '400 REQUEST_INVALID',
  ],
  [
    'the right host as a proxy reports it, from somebody who is none (B13)',
    'GET /metrics HTTP/1.1',
    'Host: evil.com\r\nX-Forwarded-Host: 127.0.0.1:PORT\r\nForwarded: host=127.0.0.1:PORT\r\n',
    '403 HOST_NOT_ALLOWED',
  ],
])('%s', async (_what, line, hosts, answer) => {
  expect(await asked(line, hosts)).toEqual([answer]);
});
