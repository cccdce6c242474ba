import { MAX_JSON_DEPTH, nestsDeeper } from '@orion/contracts';
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http';

import { bodyOfMessage, bodyOfStream } from './body.ts';
import type { Body } from './body.ts';

export type FetchFunction = typeof fetch;

/** An error's text is read whole, up to this length. */
const MOST_ERROR_BYTES = 1024 * 1024;
/** A server may close a kept connection at the moment at which it is used again. */
const MOST_STALE_CONNECTIONS = 3;

const bodies = new WeakMap<Response, Body>();

/** The body of an answer that `httpFetch` or any other `fetch` gave. */
export function bodyOf(response: Response): Body {
  return bodies.get(response) ?? bodyOfStream(response.body as ReadableStream<Uint8Array> | null);
}

/**
 * `fetch` for the provider packages, on Node's HTTP client: on a long stream the built-in `fetch` costs more than
 * everything that is done with what it brings.
 *
 * 1. The body of a successful answer is not in the `Response` but in `bodyOf` it; any other answer is an ordinary
 *    `Response` with its text.
 * 2. Redirects are not followed: a key would go to an address that nobody named. They are answers with an error.
 * 3. No compression is asked for; an answer that comes compressed all the same is decoded.
 */
export const httpFetch: FetchFunction = async (input, init) => {
  const url = new URL(input instanceof Request ? input.url : input);
  for (let stale = 0; ; stale += 1) {
    try {
      return await exchange(url, init ?? {});
    } catch (error) {
      const again = error instanceof StaleConnection && stale < MOST_STALE_CONNECTIONS;
      if (!again) throw error instanceof StaleConnection ? error.cause : error;
    }
  }
};

class StaleConnection extends Error {}

async function exchange(url: URL, init: RequestInit): Promise<Response> {
  const { signal } = init;
  signal?.throwIfAborted();
  const message = await send(url, init);
  const status = message.statusCode ?? 0;
  const headers = new Headers();
  for (const [name, value] of Object.entries(message.headersDistinct)) {
    for (const one of value ?? []) headers.append(name, one);
  }
  const decoded = await decompress(message);
  if (status >= 200 && status < 300) {
    const response = new Response(null, { status: status === 204 ? 200 : status, headers });
    bodies.set(response, bodyOfMessage(decoded));
    return response;
  }
  const { location } = message.headers;
  const text =
    status >= 300 && status < 400 && location !== undefined
      ? `The server redirects to ${addressOf(location, url)}; name that address as the base URL`
      : await readText(decoded);
  // A `Response` refuses some statuses that are no answers to a POST either.
  return new Response(text, { status: status < 300 ? 502 : status, headers });
}

async function send(url: URL, init: RequestInit): Promise<IncomingMessage> {
  // Not imported: an import looks at all that the module offers, and with that loads the client behind `fetch`.
  // oxlint-disable-next-line no-restricted-properties -- the name stands here, so nothing is hidden
  const { request } = process.getBuiltinModule(
    url.protocol === 'https:' ? 'node:https' : 'node:http',
  );
  const body = typeof init.body === 'string' ? Buffer.from(init.body) : undefined;
  const headers: OutgoingHttpHeaders = Object.fromEntries(new Headers(init.headers));
  if (body !== undefined) headers['content-length'] = body.length;
  return await new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing: ClientRequest = request(url, { method: init.method ?? 'GET', headers });
    const { signal } = init;
    const abort = (): void => {
      outgoing.destroy(new DOMException('The request was aborted', 'AbortError'));
    };
    signal?.addEventListener('abort', abort, { once: true });
    outgoing.on('close', () => signal?.removeEventListener('abort', abort));
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      const stale =
        outgoing.reusedSocket && error.code === 'ECONNRESET' && signal?.aborted !== true;
      reject(stale ? new StaleConnection('', { cause: error }) : error);
    });
    outgoing.on('response', resolve);
    outgoing.end(body);
  });
}

async function decompress(message: IncomingMessage): Promise<IncomingMessage> {
  const encoding = message.headers['content-encoding']?.trim().toLowerCase();
  if (encoding === undefined || !['gzip', 'x-gzip', 'deflate', 'br'].includes(encoding))
    return message;
  const { createBrotliDecompress, createUnzip } = await import('node:zlib');
  const { pipeline } = await import('node:stream');
  const decoder = encoding === 'br' ? createBrotliDecompress() : createUnzip();
  pipeline(message, decoder, () => undefined);
  // What is read of a message here is what any readable has.
  return decoder as unknown as IncomingMessage;
}

async function readText(message: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of message) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MOST_ERROR_BYTES) break;
    }
  } catch {
    // The status says what happened; its text may be lost.
  }
  const text = Buffer.concat(chunks).toString('utf8').slice(0, MOST_ERROR_BYTES);
  // Whoever reads an error writes its fields down again, level by level.
  return nestsDeeper(text, MAX_JSON_DEPTH)
    ? `The answer is nested deeper than ${MAX_JSON_DEPTH} levels`
    : text;
}

/** Without query, which may hold a secret. */
function addressOf(location: string, base: URL): string {
  const url = URL.parse(location, base.href);
  return url === null ? 'another address' : `${url.protocol}//${url.host}${url.pathname}`;
}
