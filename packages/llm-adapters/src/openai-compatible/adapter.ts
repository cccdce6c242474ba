import { OrionError } from '@orion/contracts';
import type { ErrorInfo, LlmAdapter, LlmEvent, Message, SendOptions } from '@orion/contracts';
import type { OpenAI } from 'openai/client';

import {
  classifyConnectionFailure,
  classifyFailure,
  createRedactor,
  providerError,
  readFailure,
} from '../provider-error.ts';
import type { Redact } from '../provider-error.ts';
import { createBodyDecoder } from '../stream/byte-stream.ts';
import { ChunkDecoder, invalid } from './chunk-decoder.ts';
import { createClient } from './client.ts';
import type { FetchFunction } from './client.ts';
import { quirksOf } from './quirks.ts';
import { readRefusal } from './refusals.ts';
import type { OptionalParameter, Refusal } from './refusals.ts';
import { buildRequest } from './request.ts';

export type OpenAiCompatibleOptions = {
  readonly model: string;
  /** Without one no Authorization header is sent. */
  readonly apiKey?: string;
  /** Where `/chat/completions` is appended; OpenAI itself when left out. */
  readonly baseUrl?: string;
  /** For requests that give none; without either none is sent. */
  readonly temperature?: number;
  readonly maxTokens?: number;
  /** How long the server may take until the head of its answer. */
  readonly connectTimeoutMs?: number;
  readonly fetch?: FetchFunction;
};

export const OPENAI_BASE_URL = 'https://api.openai.com/v1';

const DEFAULT_MAX_TOKENS = 8192;
/** Local servers read the whole prompt before they answer with a head. */
const DEFAULT_CONNECT_TIMEOUT_MS = 300_000;
/** How long a server may take to close an answer after its end mark before the connection is given up. */
const CLOSE_GRACE_MS = 1000;

type Body = ReadableStream<Uint8Array>;

/**
 * Chat completions, spoken by OpenAI, DeepSeek, Ollama, vLLM, llama.cpp and most routers.
 *
 * 1. The SDK makes the request; the body is decoded here, since the SDK's iterator costs three times as much per
 *    event, keeps its own idea of an end, and cannot tell text that arrived together.
 * 2. Every failure is one final `error` event; nothing is thrown but a wrong configuration, at creation.
 * 3. The connection is closed when the iteration ends early or the signal aborts. After an orderly end it is kept
 *    for the next request.
 * 4. A parameter that the server refuses is left out, once per parameter, in this and in all later requests.
 * 5. One read is always under way, so that what arrived before a reset is not lost with it.
 */
export function createOpenAiCompatibleAdapter(options: OpenAiCompatibleOptions): LlmAdapter {
  const baseUrl = checkBaseUrl(options.baseUrl ?? OPENAI_BASE_URL);
  const apiKey = checkApiKey(options.apiKey);
  const redact = createRedactor([apiKey]);
  const quirks = quirksOf(baseUrl.hostname, options.model);
  const refusals = new Map<OptionalParameter, Refusal['remedy']>();
  const address = `${baseUrl.hostname}:${baseUrl.port === '' ? (baseUrl.protocol === 'https:' ? '443' : '80') : baseUrl.port}`;
  let client: Promise<OpenAI> | undefined;

  const getClient = (): Promise<OpenAI> =>
    (client ??= createClient({
      apiKey,
      baseUrl: baseUrl.href,
      connectTimeoutMs: options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
      fetch: options.fetch ?? fetch,
    }));

  async function request(
    messages: readonly Message[],
    send: SendOptions,
    signal: AbortSignal,
  ): Promise<{ readonly response: Response } | { readonly error: ErrorInfo }> {
    for (;;) {
      const body = buildRequest(messages, send, {
        model: options.model,
        temperature: options.temperature,
        maxTokens: options.maxTokens ?? DEFAULT_MAX_TOKENS,
        quirks,
        refusals,
      });
      try {
        const completions = (await getClient()).chat.completions;
        return { response: await completions.create(body, { signal }).asResponse() };
      } catch (error) {
        if (signal.aborted) return { error: aborted() };
        const refused = readHttpError(error);
        if (refused === undefined)
          return { error: classifyConnectionFailure(error, address, redact) };
        const refusal = readRefusal(refused.failure, refused.parameter, new Set(Object.keys(body)));
        if (refusal === undefined || refusals.has(refusal.parameter)) {
          return { error: classifyFailure(refused.failure, redact) };
        }
        refusals.set(refusal.parameter, refusal.remedy);
      }
    }
  }

  async function* send(
    messages: readonly Message[],
    sendOptions: SendOptions,
  ): AsyncGenerator<LlmEvent, void, undefined> {
    const controller = new AbortController();
    const abort = (): void => controller.abort();
    if (sendOptions.signal?.aborted === true) {
      yield { type: 'error', error: aborted() };
      return;
    }
    sendOptions.signal?.addEventListener('abort', abort, { once: true });
    let closed = false;
    try {
      const outcome = await request(messages, sendOptions, controller.signal);
      if ('error' in outcome) {
        yield { type: 'error', error: outcome.error };
        return;
      }
      const body = outcome.response.body as Body | null;
      const decoder = new ChunkDecoder(redact);
      if (body === null) {
        decoder.end();
        yield* decoder.take();
        return;
      }
      const reader = body.getReader();
      for await (const events of decode(reader, decoder, controller.signal, address, redact)) {
        if (events.at(-1)?.type === 'finish') {
          closed = true;
          leaveOpen(reader, controller);
        }
        yield* events;
      }
    } finally {
      sendOptions.signal?.removeEventListener('abort', abort);
      if (!closed) controller.abort();
    }
  }

  return {
    name: 'openai',
    model: options.model,
    signalsMessageEnd: true,
    structuredOutput: true,
    sendMessagesStreaming: send,
  };
}

/** The events of each read; the last ones contain the final event. */
async function* decode(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  decoder: ChunkDecoder,
  signal: AbortSignal,
  address: string,
  redact: Redact,
): AsyncGenerator<readonly LlmEvent[], void, undefined> {
  const body = createBodyDecoder({
    onEvent: (data, name, atEnd) => decoder.push(data, name, atEnd),
    onDocument: (text, kind) => {
      if (kind === 'json') decoder.pushDocument(text);
      else decoder.fail(invalid('it begins like a web page; check the base URL'));
    },
    onTooLarge: (limit) => decoder.fail(invalid(`an event is larger than ${limit} characters`)),
  });
  let next = readAhead(reader);
  while (!decoder.ended) {
    const read = await next;
    if (signal.aborted) decoder.fail(aborted());
    else if ('error' in read) decoder.fail(classifyBreak(read.error, address, redact));
    else if (read.done) {
      body.end();
      decoder.end();
    } else {
      next = readAhead(reader);
      body.feed(read.value);
    }
    const events = decoder.take();
    if (events.length > 0) yield events;
  }
}

type Read =
  | { readonly done: true }
  | { readonly done: false; readonly value: Uint8Array }
  | { readonly error: unknown };

/** Never rejects, so that a read that nobody waits for any more is no unhandled rejection. */
async function readAhead(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Read> {
  try {
    const { done, value } = await reader.read();
    return done ? { done: true } : { done: false, value };
  } catch (error) {
    return { error };
  }
}

/** After the head of an answer every failure of the connection is a break, whatever its cause is called. */
function classifyBreak(error: unknown, address: string, redact: Redact): ErrorInfo {
  const known = classifyConnectionFailure(error, address, redact);
  if (known.code === 'STREAM_STALLED') return known;
  return providerError(
    'STREAM_BROKEN',
    `The connection to ${address} broke while it was sending`,
    true,
  );
}

/** Reads what is left of an ended answer, so that its connection can serve the next request. */
function leaveOpen(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  controller: AbortController,
): void {
  const timer = setTimeout(() => controller.abort(), CLOSE_GRACE_MS);
  timer.unref();
  const drain = async (): Promise<void> => {
    for (;;) {
      const read = await readAhead(reader);
      if ('error' in read || read.done) break;
    }
    clearTimeout(timer);
  };
  void drain();
}

function readHttpError(
  error: unknown,
):
  | { readonly failure: ReturnType<typeof readFailure>; readonly parameter: string | undefined }
  | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const fields = error as {
    readonly status?: unknown;
    readonly error?: unknown;
    readonly message?: unknown;
    readonly param?: unknown;
    readonly headers?: unknown;
  };
  if (typeof fields.status !== 'number') return undefined;
  const failure = readFailure(fields.error ?? fields.message ?? '', fields.status);
  const retryAfter = fields.headers instanceof Headers ? fields.headers.get('retry-after') : null;
  return {
    failure: retryAfter === null ? failure : { ...failure, retryAfter },
    parameter: typeof fields.param === 'string' ? fields.param : undefined,
  };
}

function aborted(): ErrorInfo {
  return providerError('ABORTED', 'The request was cancelled', false);
}

function checkBaseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new OrionError({
      code: 'CONFIG_INVALID',
      message: 'The base URL must be an http or https URL',
    });
  }
  if (url.username !== '' || url.password !== '') {
    throw new OrionError({
      code: 'CONFIG_INVALID',
      message: 'The base URL must not contain a user name or a password',
      hint: 'Give the credentials as the API key.',
    });
  }
  return url;
}

function checkApiKey(text: string | undefined): string | undefined {
  const key = text?.trim() ?? '';
  if (key === '') return undefined;
  // The network library would quote a key that it cannot send.
  if (!/^[\u0021-\u007e]+$/.test(key)) {
    throw new OrionError({
      code: 'CONFIG_INVALID',
      message: 'The API key contains a character that no header can carry',
    });
  }
  return key;
}
