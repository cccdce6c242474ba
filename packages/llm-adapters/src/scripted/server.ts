import { parseFields } from '@orion/contracts';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';

import { listen, stopListening } from './listen.ts';
import { REQUEST_READERS, wireOf } from './requests/check.ts';
import type { WireName } from './requests/check.ts';
import { parseScript } from './script.ts';
import type { Fault, Script } from './script.ts';
import { ScriptedModel, loadDocuments } from './scripted-model.ts';
import type { Answer, FreeModel } from './scripted-model.ts';
import { streamReply } from './wire/stream-reply.ts';

export type ScriptedProviderOptions = {
  /** 0, the default, chooses a free port. */
  readonly port?: number;
  /** Reads the files that `content: { kind: 'file' }` names. */
  readonly readDocument?: (path: string) => Promise<string>;
  /** Whether the server keeps the process alive; by default true. */
  readonly keepsProcess?: boolean;
  /** Whether `requests` has them, for which a server that answers for hours has no memory; by default true. */
  readonly keepsRequests?: boolean;
  /** A model that decides about each request. If it returns undefined, the script answers. */
  readonly model?: FreeModel;
};

export type RecordedRequest = {
  readonly wire: WireName;
  readonly body: unknown;
  /** What a strict provider would refuse; such a request was answered with 400. */
  readonly violations: readonly string[];
  readonly authorized: boolean;
  /** The behaviour that answered, by its name or its place in the script; undefined if none did. */
  readonly behaviour: string | undefined;
  /** How many characters of text have been sent so far. */
  readonly sentCharacters: number;
};

export type ScriptedProvider = {
  /** The base URL, ending in /v1. */
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  /** From now on nothing pauses: no pace, no delay, and what has stalled goes on. */
  hurry(): void;
  close(): Promise<void>;
};

/**
 * A provider on loopback that speaks all three wire formats and answers as its script says.
 *
 * 1. It knows only the HTTP request: the place to continue a document follows from the lines that the prompt quotes. So
 *    it can be killed and restarted at any time. Only what a script counts by `times` or by `process` is state of the
 *    server.
 * 2. Every request is checked against the provider's schema, answered with 400 if it fails, and recorded.
 * 3. `GET /requests` on the same port returns the records, for tests whose server is another process.
 */
export async function startScriptedProvider(
  script: Script | string | Readonly<Record<string, unknown>>,
  options: ScriptedProviderOptions = {},
): Promise<ScriptedProvider> {
  const parsed = parseScript(script);
  const documents = await loadDocuments(parsed, options.readDocument);
  const model = new ScriptedModel(parsed, documents, options.model);
  const requests: RequestRecord[] = [];
  const hurry = new AbortController();
  const provider: Provider = {
    model,
    requests,
    keepsRequests: options.keepsRequests ?? true,
    apiKey: parsed.apiKey,
    hurry: hurry.signal,
  };
  const server = createServer((request, response) => {
    answer(request, response, provider).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      if (response.headersSent) response.destroy();
      else refuse('chat', response, { status: 500, message, type: 'server_error' });
    });
  });
  const port = await listen(server, options.port ?? 0);
  if (options.keepsProcess === false) server.unref();
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    hurry: () => hurry.abort(),
    close: async () => {
      const stopped = stopListening(server);
      server.closeAllConnections();
      await stopped;
    },
  };
}

type RequestRecord = RecordedRequest & { sentCharacters: number };

type Provider = {
  readonly model: ScriptedModel;
  readonly requests: RequestRecord[];
  readonly keepsRequests: boolean;
  readonly apiKey: string | undefined;
  readonly hurry: AbortSignal;
};

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { model, requests, keepsRequests, apiKey, hurry }: Provider,
): Promise<void> {
  const path = new URL(request.url ?? '/', 'http://localhost').pathname;
  if (request.method === 'GET' && path === '/requests') {
    sendJson(response, 200, requests);
    return;
  }
  const wire = wireOf(path);
  if (request.method !== 'POST' || wire === undefined) {
    const message = `Unknown request: ${request.method} ${path}`;
    refuse('chat', response, { status: 404, message, type: 'invalid_request_error' });
    return;
  }
  const { headers } = request;
  // The Messages API has a header of its own for the key.
  const authorized =
    apiKey === undefined ||
    headers.authorization === `Bearer ${apiKey}` ||
    headers['x-api-key'] === apiKey;
  const body = parseFields(await readText(request));
  const { violations, request: asked } =
    body === null ? { violations: ['the body is not a JSON object'] } : REQUEST_READERS[wire](body);
  const chosen = asked !== undefined && authorized ? model.choose(asked) : undefined;
  const behaviour = chosen?.name;
  const record = { wire, body, violations, authorized, behaviour, sentCharacters: 0 };
  if (keepsRequests) requests.push(record);

  if (!authorized) {
    const message = 'Incorrect API key provided.';
    const code = 'invalid_api_key';
    refuse(wire, response, { status: 401, message, type: 'authentication_error', code });
  } else if (violations.length > 0) {
    const message = `Invalid request: ${violations.slice(0, 5).join('; ')}`;
    refuse(wire, response, { status: 400, message, type: 'invalid_request_error' });
  } else if (chosen === undefined) {
    const message = 'No behaviour of the script fits this request.';
    refuse(wire, response, { status: 400, message, type: 'script_error' });
  } else {
    await send(wire, response, model.answer(wire, chosen), hurry, (characters) => {
      record.sentCharacters += characters;
    });
  }
}

async function send(
  wire: WireName,
  response: ServerResponse,
  made: Answer,
  hurry: AbortSignal,
  onText: (characters: number) => void,
): Promise<void> {
  switch (made.kind) {
    case 'status':
      refuse(wire, response, made.fault);
      return;
    case 'raw':
      response.writeHead(200, { 'content-type': made.raw.contentType ?? 'text/event-stream' });
      response.end(made.raw.body);
      return;
    case 'stream':
      await streamReply(response, made.reply, hurry, onText);
      return;
    default:
      made satisfies never;
  }
}

const STATUS_TYPES: ReadonlyMap<number, string> = new Map([
  [400, 'invalid_request_error'],
  [401, 'authentication_error'],
  [429, 'rate_limit_error'],
  [503, 'overloaded_error'],
  [529, 'overloaded_error'],
]);

/** Sends an error in the format of the wire. */
function refuse(wire: WireName, response: ServerResponse, refusal: Omit<Fault, 'kind'>): void {
  const {
    status = 500,
    message = `The scripted provider answers with ${status}.`,
    type = STATUS_TYPES.get(status) ?? 'server_error',
    code = null,
    retryAfter,
  } = refusal;
  const body =
    wire === 'messages'
      ? { type: 'error', error: { type, message } }
      : { error: { message, type, param: null, code } };
  sendJson(response, status, body, retryAfter === undefined ? {} : { 'retry-after': retryAfter });
}

function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
}
