import type { IncomingMessage, ServerResponse } from 'node:http';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

import { httpError } from '../answers/http-error.ts';
import type { HttpError } from '../answers/http-error.ts';

/** Headers of every answer. Nothing is to be kept, framed, sniffed or run, unless a route decides otherwise. */
export const COMMON_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

const JSON_TYPE = 'application/json; charset=utf-8';
/** What a refused client may go on sending before its connection is closed. */
const DISCARDED_BYTES = 1024 * 1024;
const DISCARDED_MS = 2000;

/** Answers a request whose body nobody reads. */
export function answerError(
  request: IncomingMessage,
  response: ServerResponse,
  { status, body, headers }: HttpError,
): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    ...headers,
    'content-type': JSON_TYPE,
    'content-length': Buffer.byteLength(text),
  });
  response.end(request.method === 'HEAD' ? undefined : text);
  discard(request);
}

/** Lets a client finish its request, since one that is cut off would not see the answer. */
function discard(request: IncomingMessage): void {
  if (request.complete) return;
  let bytes = 0;
  const timer = setTimeout(() => request.destroy(), DISCARDED_MS);
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > DISCARDED_BYTES) request.destroy();
  });
  request.on('error', () => undefined);
  request.once('close', () => clearTimeout(timer));
}

/** Answers what is not HTTP, is too large or too slow to become a request, and closes the connection. */
export function answerBroken(
  error: Error & { readonly code?: string },
  socket: Duplex,
  isAnswering: boolean,
): HttpError {
  const answer = brokenRequest(error.code);
  if (!socket.writable || error.code === 'ECONNRESET' || isAnswering) {
    socket.destroy();
    return answer;
  }
  const text = JSON.stringify(answer.body);
  const headers = {
    ...COMMON_HEADERS,
    'content-type': JSON_TYPE,
    'content-length': Buffer.byteLength(text),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(
    `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}\r\n${lines.join('')}\r\n${text}`,
    () => socket.destroy(),
  );
  return answer;
}

function brokenRequest(code: string | undefined): HttpError {
  if (code === 'HPE_HEADER_OVERFLOW')
    return httpError('HEADERS_TOO_LARGE', 'The request line and the headers are too large.');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return httpError('REQUEST_TIMEOUT', 'The head of the request did not arrive in time.');
  return httpError('REQUEST_INVALID', 'This is not a valid HTTP request.');
}
