import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

import { REQUEST_READERS, wireOf } from './requests/check.ts';
import type { WireName } from './requests/check.ts';
import { parseScript } from './script.ts';
import type { Fault, Script } from './script.ts';
import { ScriptedModel, loadDocuments } from './scripted-model.ts';
import type { Answer, FreeModel } from './scripted-model.ts';
import { streamReply } from './wire/stream-reply.ts';

export type ScriptedProviderOptions = {
  /** 0, the default, takes a free one. */
  readonly port?: number;
  readonly host?: string;
  /** Reads the files that `content: { kind: 'file' }` names. */
  readonly readDocument?: (path: string) => Promise<string>;
  /** Whether the process stays alive for the server's sake; true when left out. */
  readonly keepsProcess?: boolean;
  /**
   * A model that makes up its mind when it is asked: what it does with this request. Where it has nothing to say, the
   * script answers.
   */
  readonly model?: FreeModel;
};

export type RecordedRequest = {
  readonly wire: WireName;
  readonly body: unknown;
  /** What a strict provider would refuse in it; such a request was answered with 400. */
  readonly violations: readonly string[];
  readonly authorized: boolean;
  /** The behaviour that answered, by name or place in the script; undefined if none did. */
  readonly behaviour: string | undefined;
  /** How many characters of text the reply has brought so far. */
  readonly sentCharacters: number;
};

export type ScriptedProvider = {
  /** The base URL, ending in /v1. */
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  close(): Promise<void>;
};

const MAX_REQUEST_BYTES = 256 * 1024 * 1024;

/**
 * A provider on loopback that speaks all three wire formats, whichever a request comes in, and answers as its
 * script says.
 *
 * 1. It knows nothing but the HTTP request: where a document goes on follows from the lines that a prompt quotes,
 *    so that it can be killed and started again at any time. Only what a script calls `times` or counts by
 *    `process` lives in the server.
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
  const host = options.host ?? '127.0.0.1';
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    void answer(request, response, { model, requests, apiKey: parsed.apiKey });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await listen(server, options.port ?? 0, host);
  if (options.keepsProcess === false) server.unref();
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}/v1`,
    requests,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

type RequestRecord = RecordedRequest & { sentCharacters: number };

type Provider = {
  readonly model: ScriptedModel;
  readonly requests: RequestRecord[];
  readonly apiKey: string | undefined;
};

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  provider: Provider,
): Promise<void> {
  try {
    await route(request, response, provider);
  } catch (error) {
    if (response.headersSent) response.destroy();
    else
      sendError('chat', response, 500, {
        message: error instanceof Error ? error.message : String(error),
        type: 'server_error',
      });
  }
}

async function route(
  request: IncomingMessage,
  response: ServerResponse,
  provider: Provider,
): Promise<void> {
  const path = new URL(request.url ?? '/', 'http://localhost').pathname;
  if (request.method === 'GET' && path === '/requests') {
    sendJson(response, 200, provider.requests);
    return;
  }
  if (request.method === 'GET' && path.endsWith('/models')) {
    sendJson(response, 200, {
      object: 'list',
      data: [{ id: 'scripted', object: 'model', owned_by: 'orion' }],
    });
    return;
  }
  const wire = wireOf(path);
  if (request.method !== 'POST' || wire === undefined) {
    const message = `Unknown request: ${request.method} ${path}`;
    sendError('chat', response, 404, { message, type: 'invalid_request_error' });
    return;
  }
  await complete(wire, request, response, provider);
}

async function complete(
  wire: WireName,
  request: IncomingMessage,
  response: ServerResponse,
  { model, requests, apiKey }: Provider,
): Promise<void> {
  const text = await readText(request);
  const authorized = isAuthorized(request, apiKey);
  const body = parseJson(text);
  const { violations, request: asked } =
    body === undefined ? { violations: ['the body is not JSON'] } : REQUEST_READERS[wire](body);
  const chosen = asked !== undefined && authorized ? model.choose(asked) : undefined;
  const record = {
    wire,
    body,
    violations,
    authorized,
    behaviour: chosen?.name,
    sentCharacters: 0,
  };
  requests.push(record);

  if (!authorized) {
    sendError(wire, response, 401, {
      message: 'Incorrect API key provided.',
      type: 'authentication_error',
      code: 'invalid_api_key',
    });
  } else if (violations.length > 0) {
    const message = `Invalid request: ${violations.slice(0, 5).join('; ')}`;
    sendError(wire, response, 400, { message, type: 'invalid_request_error' });
  } else if (chosen === undefined) {
    const message = 'No behaviour of the script fits this request.';
    sendError(wire, response, 400, { message, type: 'script_error' });
  } else {
    await send(wire, response, model.answer(wire, chosen), (characters) => {
      record.sentCharacters += characters;
    });
  }
}

async function send(
  wire: WireName,
  response: ServerResponse,
  made: Answer,
  onText: (characters: number) => void,
): Promise<void> {
  switch (made.kind) {
    case 'status':
      sendFault(wire, response, made.fault);
      return;
    case 'raw':
      response.writeHead(200, { 'content-type': made.raw.contentType ?? 'text/event-stream' });
      response.end(made.raw.body);
      return;
    case 'stream':
      await streamReply(response, made.reply, onText);
      return;
    default:
      made satisfies never;
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_REQUEST_BYTES) throw new Error('the request is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
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

type ErrorWords = {
  readonly message: string;
  readonly type: string;
  readonly code?: string | number | null | undefined;
};

function sendError(
  wire: WireName,
  response: ServerResponse,
  status: number,
  { message, type, code = null }: ErrorWords,
  headers: Record<string, string> = {},
): void {
  const body =
    wire === 'messages'
      ? { type: 'error', error: { type, message } }
      : { error: { message, type, param: null, code } };
  sendJson(response, status, body, headers);
}

/** Messages carry their key in a header of its own. */
function isAuthorized(request: IncomingMessage, apiKey: string | undefined): boolean {
  if (apiKey === undefined) return true;
  return (
    request.headers.authorization === `Bearer ${apiKey}` || request.headers['x-api-key'] === apiKey
  );
}

const STATUS_TYPES: ReadonlyMap<number, string> = new Map([
  [400, 'invalid_request_error'],
  [401, 'authentication_error'],
  [429, 'rate_limit_error'],
  [503, 'overloaded_error'],
  [529, 'overloaded_error'],
]);

function sendFault(wire: WireName, response: ServerResponse, fault: Fault): void {
  const status = fault.status ?? 500;
  sendError(
    wire,
    response,
    status,
    {
      message: fault.message ?? `The scripted provider answers with ${status}.`,
      type: fault.type ?? STATUS_TYPES.get(status) ?? 'server_error',
      code: fault.code,
    },
    fault.retryAfter === undefined ? {} : { 'retry-after': fault.retryAfter },
  );
}
