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
  /** Besides those for JSON. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** The longest wait for the head of the answer. */
  readonly connectTimeoutMs: number;
  /** Replaces Node's HTTP client. */
  readonly fetch?: FetchFunction | undefined;
};

/** An answer with any status but 2xx. Its text is from the server: redact it before you show it. */
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

/** Returns the value of a header, by its name in lower case. */
export type AnswerHeaders = (name: string) => string | undefined;

type Answer = { readonly status: number; readonly headers: AnswerHeaders; readonly body: Body };
type Exchange = (url: URL, init: Init) => Promise<Answer>;
type Init = {
  readonly method: 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
};

/** The limit of an error's text. */
const MOST_ERROR_BYTES = 1024 * 1024;
/** A server may close a kept connection just as it is used again. */
const MOST_STALE_CONNECTIONS = 3;

/**
 * Posts JSON. Resolves with the body of the answer as soon as its head has arrived.
 *
 * 1. Any status but 2xx rejects with `HttpFailure`; every other rejection is a failure of the connection.
 * 2. Redirects are not followed, because the key would go to an address that the user did not name. They are failures,
 *    too.
 * 3. No compression is requested; a compressed answer is decoded nevertheless.
 * 4. Nothing is read from the environment. Node's HTTP client sends the request: on a long stream the built-in `fetch`
 *    costs more than all further processing.
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
  // Not imported: an import reads all exports of the module, which loads the client behind `fetch`. For a command of one
  // sentence that is 25 ms of processor time and 6 MB (132 instead of 107 ms, 73 instead of 67 MB; docs/decisions/0018).
  // oxlint-disable-next-line no-restricted-properties -- the module is named here, so nothing is hidden
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
      // An answer that switches protocols closes the request without an answer or an error.
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
  // Only members that every readable stream has are used here.
  return decoder as unknown as IncomingMessage;
}

async function readText(body: Body): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  while (size <= MOST_ERROR_BYTES) {
    const arrival = await body.read();
    // After a break the status still tells the reason; the text may be lost.
    if (arrival.kind !== 'bytes') break;
    chunks.push(arrival.bytes);
    size += arrival.bytes.length;
  }
  const text = Buffer.concat(chunks).toString('utf8').slice(0, MOST_ERROR_BYTES);
  // Errors are serialised again, recursively.
  return nestsDeeper(text, MAX_JSON_DEPTH)
    ? `The answer is nested deeper than ${MAX_JSON_DEPTH} levels`
    : text;
}

/** Without the query, which may contain a secret. */
function addressOf(location: string, base: URL): string {
  const url = URL.parse(location, base.href);
  return url === null ? 'another address' : `${url.protocol}//${url.host}${url.pathname}`;
}
