import { MAX_JSON_DEPTH, nestsDeeper } from '@orion/contracts';
import type { Clock } from '@orion/contracts';
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream';
import { createBrotliDecompress, createUnzip } from 'node:zlib';

import { bodyOfMessage, bodyOfStream } from './body.ts';
import type { Body } from './body.ts';

export type FetchFunction = typeof fetch;

export type JsonPost = {
  readonly url: URL;
  /** Beside those that say that JSON is sent. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** How long the server may take until the head of its answer. */
  readonly connectTimeoutMs: number;
  /** Sends the request in place of Node's own HTTP client. */
  readonly fetch?: FetchFunction | undefined;
};

/** An answer with any other status than 2xx. Its text comes from the server: redact it before it is shown. */
export class HttpFailure extends Error {
  override readonly name = 'HttpFailure';
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly text: string;

  constructor(status: number, headers: AnswerHeaders, text: string) {
    super(`The server answered with ${status}`);
    this.status = status;
    this.headers = headers;
    this.text = text;
  }
}

/** The value of a header by its name in lower case; undefined where there is none. */
export type AnswerHeaders = (name: string) => string | undefined;

type Answer = { readonly status: number; readonly headers: AnswerHeaders; readonly body: Body };
type Exchange = (url: URL, init: Init) => Promise<Answer>;
type Init = {
  readonly method: 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
};

/** An error's text is read whole, up to this length. */
const MOST_ERROR_BYTES = 1024 * 1024;
/** A server may close a kept connection at the moment at which it is used again. */
const MOST_STALE_CONNECTIONS = 3;

/**
 * Posts JSON and gives back the body of the answer, whose head has come.
 *
 * 1. An answer with another status than 2xx rejects with `HttpFailure`; any other rejection is of the connection.
 * 2. Redirects are not followed: a key would go to an address that nobody named. They are failures too.
 * 3. No compression is asked for; an answer that comes compressed all the same is decoded.
 * 4. Nothing is read from the environment. The request goes through Node's HTTP client: on a long stream the
 *    built-in `fetch` costs more than everything that is done with what it brings.
 */
export async function postJson(post: JsonPost): Promise<Body> {
  const late = new AbortController();
  const cancel = post.clock.schedule(post.connectTimeoutMs, () => late.abort());
  const exchange = post.fetch === undefined ? overHttp : overFetch(post.fetch);
  const init: Init = {
    method: 'POST',
    headers: {
      accept: 'application/json',
      'content-type': 'application/json',
      'user-agent': 'orion',
      ...post.headers,
    },
    body: JSON.stringify(post.body),
    signal: AbortSignal.any([post.signal, late.signal]),
  };
  try {
    const { status, headers, body } = await exchange(post.url, init);
    if (status >= 200 && status < 300) return body;
    const location = status < 400 ? headers('location') : undefined;
    const text =
      location === undefined
        ? await readText(body)
        : `The server redirects to ${addressOf(location, post.url)}; name that address as the base URL`;
    throw new HttpFailure(status, headers, text);
  } catch (error) {
    if (late.signal.aborted && !post.signal.aborted)
      throw new Error('The request timed out', { cause: error });
    throw error;
  } finally {
    cancel();
  }
}

function overFetch(fetchFunction: FetchFunction): Exchange {
  return async (url, init) => {
    const response = await fetchFunction(url, { ...init, redirect: 'manual' });
    return {
      status: response.status,
      headers: (name) => response.headers.get(name) ?? undefined,
      body: bodyOfStream(response.body as ReadableStream<Uint8Array> | null),
    };
  };
}

class StaleConnection extends Error {}

const overHttp: Exchange = async (url, init) => {
  for (let stale = 0; ; stale += 1) {
    try {
      const message = await send(url, init);
      return {
        status: message.statusCode ?? 0,
        headers: (name) => headerOf(message.headers, name),
        body: bodyOfMessage(decompress(message)),
      };
    } catch (error) {
      const again = error instanceof StaleConnection && stale < MOST_STALE_CONNECTIONS;
      if (!again) throw error instanceof StaleConnection ? error.cause : error;
    }
  }
};

async function send(url: URL, { method, headers, body, signal }: Init): Promise<IncomingMessage> {
  signal.throwIfAborted();
  // Not imported: an import reads all that the module exports, and with that loads the client behind `fetch`: 20 ms and
  // 4 MB of a sentence's 146 ms and 95 MB (docs/decisions/0018).
  // oxlint-disable-next-line no-restricted-properties -- the name stands here, so nothing is hidden
  const { request } = process.getBuiltinModule(
    url.protocol === 'https:' ? 'node:https' : 'node:http',
  );
  const bytes = Buffer.from(body);
  return await new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing: ClientRequest = request(url, {
      method,
      headers: { ...headers, 'content-length': bytes.length },
    });
    const abort = (): void => {
      outgoing.destroy(new DOMException('The request was aborted', 'AbortError'));
    };
    signal.addEventListener('abort', abort, { once: true });
    outgoing.on('close', () => {
      signal.removeEventListener('abort', abort);
      // An answer that switches protocols ends the request with neither an answer nor an error.
      reject(new Error('The connection was closed before an answer'));
    });
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      const stale = outgoing.reusedSocket && error.code === 'ECONNRESET' && !signal.aborted;
      reject(stale ? new StaleConnection('', { cause: error }) : error);
    });
    outgoing.on('response', resolve);
    outgoing.end(bytes);
  });
}

function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

function decompress(message: IncomingMessage): IncomingMessage {
  const encoding = message.headers['content-encoding']?.trim().toLowerCase();
  if (encoding === undefined || !['gzip', 'x-gzip', 'deflate', 'br'].includes(encoding))
    return message;
  const decoder = encoding === 'br' ? createBrotliDecompress() : createUnzip();
  pipeline(message, decoder, () => undefined);
  // What is read of a message here is what any readable has.
  return decoder as unknown as IncomingMessage;
}

async function readText(body: Body): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  while (size <= MOST_ERROR_BYTES) {
    const arrival = await body.read();
    // After a break the status still says what happened; its text may be lost.
    if (arrival.kind !== 'bytes') break;
    chunks.push(arrival.bytes);
    size += arrival.bytes.length;
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
