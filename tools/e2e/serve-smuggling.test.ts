// A request that two programs could read in two ways is not read at all: behind a proxy its rest would be another client's.
import { describe, expect, it } from 'vitest';

import { readToEnd, SERVER_TOKEN, sharedServer, toldOf } from './support/serve.ts';

const server = sharedServer();

const head = (line: string, ...headers: readonly string[]): string =>
  [
    line,
    `Host: 127.0.0.1:${server().port}`,
    `Authorization: Bearer ${SERVER_TOKEN}`,
    ...headers,
    '',
    '',
  ].join('\r\n');
const POST = 'POST /api/turns/none/cancel HTTP/1.1';
const JSON_TYPE = 'Content-Type: application/json';
/** What would be a second request. */
const hidden = (): string => head('GET /hidden HTTP/1.1', 'Connection: close');

async function answers(text: string): Promise<readonly string[]> {
  const told = toldOf(await server().send(text));
  expect(server().running.stderr()).not.toContain('/hidden');
  return told;
}

describe('the length of a body, said in two ways', () => {
  it.each<[string, readonly string[], string]>([
    ['a length and chunks', ['Content-Length: 4', 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
    ['chunks and a length', ['Transfer-Encoding: chunked', 'Content-Length: 4'], '0\r\n\r\n'],
    ['two lengths', ['Content-Length: 0', 'Content-Length: 44'], ''],
    ['two lengths in one header', ['Content-Length: 0, 44'], ''],
    ['a length with a sign', ['Content-Length: +2'], '{}'],
    ['a negative length', ['Content-Length: -1'], ''],
    ['a length in hexadecimal', ['Content-Length: 0x2'], '{}'],
    ['a length beyond all numbers', ['Content-Length: 99999999999999999999'], '{}'],
    ['an unknown coding', ['Transfer-Encoding: xchunked'], '0\r\n\r\n'],
    ['chunks, then an unknown coding', ['Transfer-Encoding: chunked, identity'], '0\r\n\r\n'],
    ['a coding with a strange blank', ['Transfer-Encoding:\u000bchunked'], '0\r\n\r\n'],
    ['a coding whose name has a blank behind it', ['Transfer-Encoding : chunked'], '0\r\n\r\n'],
    ['a header that goes on in the next line', ['X: y', ' Transfer-Encoding: chunked'], ''],
    ['a header with a zero byte', ['X: a\u0000b'], ''],
    ['a line feed alone', ['X: y\nTransfer-Encoding: chunked'], '0\r\n\r\n'],
    ['a carriage return alone', ['X: y\rContent-Length: 44'], ''],
  ])('%s', async (_what, headers, body) => {
    const told = await answers(head(POST, JSON_TYPE, ...headers) + body + hidden());
    // One answer, whatever it makes of the request; the connection ends, and with it what follows.
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(/^(?:400 REQUEST_INVALID|413 BODY_TOO_LARGE|404 TURN_NOT_FOUND)$/u);
  });
});

describe('chunks', () => {
  it.each([
    ['a size that is no number', 'zz\r\n{}\r\n0\r\n\r\n'],
    ['a size with a sign', '+2\r\n{}\r\n0\r\n\r\n'],
    ['a size with a prefix', '0x2\r\n{}\r\n0\r\n\r\n'],
    ['a size beyond all numbers', 'fffffffffffffffff\r\n{}\r\n0\r\n\r\n'],
    ['more bytes than their size', '2\r\n{}{}\r\n0\r\n\r\n'],
    ['a line that ends in a line feed alone', '2\n{}\n0\n\n'],
  ])('with %s', async (_what, body) => {
    const told = await answers(
      head(POST, JSON_TYPE, 'Transfer-Encoding: chunked') + body + hidden(),
    );
    expect(told).toEqual(['400 REQUEST_INVALID']);
  });

  it('with a trailer that would decide something', async () => {
    const trailers = `0\r\nAuthorization: Bearer x\r\nHost: evil.com\r\nContent-Type: text/plain\r\n\r\n`;
    const headers = [JSON_TYPE, 'Transfer-Encoding: chunked', 'Connection: close'];
    expect(await answers(head(POST, ...headers) + `2\r\n{}\r\n${trailers}`)).toEqual([
      '404 TURN_NOT_FOUND',
    ]);
  });
});

describe('a request behind another', () => {
  it('is one of its own, each with its answer, in their order', async () => {
    const told = toldOf(
      await server().send(
        head('GET /health/live HTTP/1.1') +
          head(POST, JSON_TYPE, 'Content-Length: 2') +
          '{}' +
          head('GET /metrics HTTP/1.1', 'Connection: close'),
      ),
    );
    expect(told.map((each) => each.split(' ')[0])).toEqual(['200', '404', '200']);
  });

  it('is not made of the body of one that has none', async () => {
    const body = hidden();
    const told = await answers(
      head('GET /health/live HTTP/1.1', `Content-Length: ${body.length}`, 'Connection: close') +
        body,
    );
    expect(told).toEqual(['200']);
  });

  it('is not made of the body of one that was refused', async () => {
    const body = hidden();
    for (const [line, ...headers] of [
      [POST, 'Content-Type: text/plain'],
      [POST, JSON_TYPE, 'Content-Encoding: gzip'],
      [
        'PUT /api/write-sessions/none/content?offset=0 HTTP/1.1',
        'Content-Type: application/octet-stream',
      ],
      ['PATCH /none HTTP/1.1'],
    ] as const) {
      const text =
        head(line, ...headers, `Content-Length: ${body.length}`, 'Connection: close') + body;
      expect((await answers(text)).length).toBe(1);
    }
  });
});

describe('another protocol', () => {
  it.each<[string, string, readonly string[], RegExp]>([
    [
      'a web socket',
      'GET /metrics HTTP/1.1',
      ['Connection: Upgrade', 'Upgrade: websocket'],
      /^(?:200|400)/u,
    ],
    [
      'HTTP/2 by an upgrade',
      'GET /metrics HTTP/1.1',
      ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'],
      /^(?:200|400)/u,
    ],
    ['a tunnel', 'CONNECT evil.com:443 HTTP/1.1', [], /^$/u],
  ])('%s is not spoken', async (_what, line, headers, answer) => {
    const socket = await server().open();
    const text = readToEnd(socket);
    socket.write(head(line, ...headers));
    setTimeout(() => socket.end(), 200);
    const [told = ''] = toldOf(await text);
    expect(told).toMatch(answer);
    expect(told).not.toMatch(/^101/u);
  });

  it('HTTP/2 from the start is not spoken', async () => {
    expect(toldOf(await server().send('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'))).toEqual([
      '400 REQUEST_INVALID',
    ]);
  });

  it('TLS is not spoken on this port', async () => {
    const hello = Buffer.from('16030100050100000103', 'hex');
    expect(toldOf(await server().send(hello))).toEqual(['400 REQUEST_INVALID']);
  });
});
