import type { IncomingMessage, ServerResponse } from 'node:http';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

import type { Clock } from '@orion/contracts';

import { httpError } from '../answers/http-error.ts';
import type { HttpError } from '../answers/http-error.ts';
import type { ServerLimits } from '../limits.ts';

/** Headers of every answer. Nothing is to be kept, framed, sniffed or run, unless a route decides otherwise. */
export const COMMON_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

const JSON_TYPE = 'application/json; charset=utf-8';
/**
 * What a refused client may still send before its connection is cut, since many clients read an answer only when they
 * have sent everything. Nothing of it is kept.
 */
export type Discarded = { readonly bytes: number; readonly ms: number };

/** Of whoever it is. */
export const DISCARDED: Discarded = { bytes: 16 * 1024 * 1024, ms: 2000 };
/** A body that is too large is allowed to be so by this much. */
const MOST_BODIES = 4;

/** A client with the token is given the time that a body of the right size has. */
export function discardedBody({
  bodyBytes,
  bodyMs,
}: Pick<ServerLimits, 'bodyBytes' | 'bodyMs'>): Discarded {
  return { bytes: MOST_BODIES * bodyBytes, ms: bodyMs };
}

/** Answers a request whose body nobody reads. `discarded` is null if the client sends none before it is told to. */
export function answerError(
  request: IncomingMessage,
  response: ServerResponse,
  { status, body, headers }: HttpError,
  clock: Clock,
  discarded: Discarded | null,
): void {
  if (discarded !== DISCARDED) response.setHeader('connection', 'close');
  const text = JSON.stringify(body);
  response.writeHead(status, {
    ...headers,
    'content-type': JSON_TYPE,
    'content-length': Buffer.byteLength(text),
  });
  if (request.method === 'HEAD') response.flushHeaders();
  else response.write(text);
  if (discarded === null || request.complete) response.end();
  else endAfterRequest(request, response, clock, discarded);
}

/**
 * Lets a client finish its request, since one that is cut off would not see the answer. That is sent already; its end
 * would close the connection of a client that asked for `Connection: close`.
 */
function endAfterRequest(
  request: IncomingMessage,
  response: ServerResponse,
  clock: Clock,
  discarded: Discarded,
): void {
  const cutOff = (): void => void response.end(() => request.destroy());
  let bytes = 0;
  const cancel = clock.schedule(discarded.ms, cutOff);
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > discarded.bytes) cutOff();
  });
  request.on('error', () => undefined);
  for (const event of ['end', 'close']) {
    request.once(event, () => {
      cancel();
      response.end();
    });
  }
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
