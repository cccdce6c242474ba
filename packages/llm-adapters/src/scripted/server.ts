import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

import { matches } from './conditions.ts';
import { chooseContinuation, writeDocumentReply } from './continuation.ts';
import { createDocument, loadDocument } from './document.ts';
import type { ScriptedDocument } from './document.ts';
import { countPrompts, readDocumentPrompt } from './prompts.ts';
import type { DocumentPrompt } from './prompts.ts';
import { REQUEST_FORMATS, wireOf } from './requests/check.ts';
import type { WireName } from './requests/check.ts';
import type { ProviderRequest } from './requests/provider-request.ts';
import { invalidScript, parseScript } from './script.ts';
import type { Behaviour, Fault, Script, Shape } from './script.ts';
import { streamReply, tokens } from './wire/stream-reply.ts';
import type { PlannedReply } from './wire/stream-reply.ts';

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
  readonly model?: (request: ProviderRequest) => Behaviour | undefined;
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
  const engine = await createEngine(parseScript(script), options);
  const host = options.host ?? '127.0.0.1';
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    void engine.answer(request, response);
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
    requests: engine.requests,
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

type Chosen = {
  readonly behaviour: Behaviour;
  readonly prompt: DocumentPrompt | undefined;
  /** What the request has begun to say for the model. */
  readonly prefill: string;
};

type Engine = {
  readonly requests: readonly RecordedRequest[];
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>;
};

async function createEngine(
  script: Script,
  { readDocument, model }: Pick<ScriptedProviderOptions, 'readDocument' | 'model'>,
): Promise<Engine> {
  const documents = await loadDocuments(script, readDocument);
  const requests: (RecordedRequest & { sentCharacters: number })[] = [];
  const counters = new Map<object, number>();
  const used = (thing: object): number => counters.get(thing) ?? 0;
  const use = (thing: object): number => {
    const count = used(thing) + 1;
    counters.set(thing, count);
    return count;
  };

  function choose(request: ProviderRequest, prefill: string): Chosen | undefined {
    const { messages } = request;
    const made = model?.(request);
    if (made !== undefined) return { behaviour: made, prompt: undefined, prefill };
    for (const behaviour of script.behaviours) {
      if (behaviour.times !== undefined && used(behaviour) >= behaviour.times) continue;
      if (!matches(behaviour.when, request)) continue;
      const target = behaviour.reply.document?.target;
      const prompt = target === undefined ? undefined : readDocumentPrompt(messages, target);
      if (target === undefined || prompt !== undefined) return { behaviour, prompt, prefill };
    }
    return undefined;
  }

  async function complete(
    wire: WireName,
    request: ProviderRequest,
    { behaviour, prompt, prefill }: Chosen,
    response: ServerResponse,
    onText: (characters: number) => void,
  ): Promise<void> {
    const number = replyNumber(request, behaviour);
    const fault = [...(behaviour.faults ?? []), ...(script.faults ?? [])].find(
      (candidate) =>
        faultApplies(candidate, number) &&
        (candidate.times === undefined || used(candidate) < candidate.times),
    );
    if (fault !== undefined) use(fault);
    if (fault?.kind === 'status') {
      sendFault(wire, response, fault);
      return;
    }
    const { reply } = behaviour;
    if (reply.raw !== undefined) {
      response.writeHead(200, { 'content-type': reply.raw.contentType ?? 'text/event-stream' });
      response.end(reply.raw.body);
      return;
    }
    const turn = request.messages.filter((message) => message.role === 'assistant').length + 1;
    const calls = (reply.toolCalls ?? []).map((call, index) => ({
      id: call.id ?? `call_${turn}_${index}`,
      name: call.name,
      arguments:
        typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments ?? {}),
    }));
    const shape = { ...script.shape, ...behaviour.shape };
    const promptCharacters = request.messages.reduce(
      (sum, message) => sum + message.text.length,
      0,
    );
    const planned: PlannedReply = {
      wire,
      text:
        reply.document === undefined || prompt === undefined
          ? (reply.text ?? '')
          : documentText(behaviour, reply.document, prompt, request, prefill),
      calls,
      finishReason: reply.finishReason ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
      model: request.model,
      id: `${ID_PREFIXES[wire]}scripted-${turn}`,
      promptTokens: tokens(promptCharacters),
      wantsUsage: request.wantsUsage,
      shape,
      fault: fault ?? tokenLimit(request, shape),
    };
    await streamReply(response, planned, onText);
  }

  function documentText(
    behaviour: Behaviour,
    reply: NonNullable<Behaviour['reply']['document']>,
    prompt: DocumentPrompt,
    request: ProviderRequest,
    prefill: string,
  ): string {
    const document = documents.get(behaviour);
    if (document === undefined) throw new Error('a document was not loaded');
    const ordinal =
      prompt.kind !== 'continue'
        ? 1
        : reply.countBy === 'process'
          ? use(reply)
          : countPrompts(request.messages, reply.target);
    const text = writeDocumentReply(
      document,
      reply,
      prompt,
      chooseContinuation(reply.continuations, ordinal),
    );
    // What the request has begun to say for the model is not said again.
    return text.startsWith(prefill) ? text.slice(prefill.length) : text;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await route(request, response);
    } catch (error) {
      if (response.headersSent) response.destroy();
      else
        sendError('chat', response, 500, {
          message: error instanceof Error ? error.message : String(error),
          type: 'server_error',
        });
    }
  }

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    if (request.method === 'GET' && path === '/requests') {
      sendJson(response, 200, requests);
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
    const text = await readText(request);
    const authorized = isAuthorized(request, script.apiKey);
    const body = parseJson(text);
    const format = REQUEST_FORMATS[wire];
    const violations = body === undefined ? ['the body is not JSON'] : format.check(body);
    const read = violations.length === 0 ? format.read(body) : undefined;
    const chosen = read !== undefined && authorized ? choose(...splitPrefill(read)) : undefined;
    const name =
      chosen === undefined
        ? undefined
        : (chosen.behaviour.name ?? String(script.behaviours.indexOf(chosen.behaviour)));
    const record = { wire, body, violations, authorized, behaviour: name, sentCharacters: 0 };
    requests.push(record);

    if (!authorized) {
      sendError(wire, response, 401, {
        message: 'Incorrect API key provided.',
        type: 'authentication_error',
        code: 'invalid_api_key',
      });
    } else if (read === undefined) {
      const message = `Invalid request: ${violations.slice(0, 5).join('; ')}`;
      sendError(wire, response, 400, { message, type: 'invalid_request_error' });
    } else if (chosen === undefined) {
      const message = 'No behaviour of the script fits this request.';
      sendError(wire, response, 400, { message, type: 'script_error' });
    } else {
      use(chosen.behaviour);
      await complete(wire, read, chosen, response, (characters) => {
        record.sentCharacters += characters;
      });
    }
  }

  return { requests, answer };
}

/** A request whose last message is the model's own, and the words that it goes on with. */
function splitPrefill(request: ProviderRequest): readonly [ProviderRequest, string] {
  const last = request.messages.at(-1);
  if (last?.role !== 'assistant' || last.text === '') return [request, ''];
  return [{ ...request, messages: request.messages.slice(0, -1) }, last.text];
}

async function loadDocuments(
  script: Script,
  readDocument: ScriptedProviderOptions['readDocument'],
): Promise<ReadonlyMap<Behaviour, ScriptedDocument>> {
  const documents = new Map<Behaviour, ScriptedDocument>();
  for (const [index, behaviour] of script.behaviours.entries()) {
    const content = behaviour.reply.document?.content;
    if (content === undefined) continue;
    const place = `behaviours[${index}].reply.document.content`;
    const read = readDocument ?? (() => Promise.reject(new Error('files cannot be read here')));
    try {
      documents.set(behaviour, createDocument(await loadDocument(content, read)));
    } catch (error) {
      throw invalidScript(
        `${place}: ${error instanceof Error ? error.message : String(error)}`,
        error,
      );
    }
  }
  return documents;
}

/**
 * Which reply of its kind this is, as the request shows it. For a document: 1 for the message after begin, 2 for
 * the reply to the first prompt of its session, and so on. Otherwise: the number of assistant messages and one.
 */
function replyNumber(request: ProviderRequest, behaviour: Behaviour): number {
  const target = behaviour.reply.document?.target;
  if (target !== undefined) return countPrompts(request.messages, target) + 1;
  return request.messages.filter((message) => message.role === 'assistant').length + 1;
}

function faultApplies(fault: Fault, number: number): boolean {
  if (fault.reply === undefined) return true;
  return typeof fault.reply === 'number' ? fault.reply === number : fault.reply.includes(number);
}

function tokenLimit(request: ProviderRequest, shape: Shape): Fault | undefined {
  const limit = request.maxTokens;
  if (shape.honourMaxTokens !== true || limit === undefined) return undefined;
  return { kind: 'length', at: { characters: limit * 4 } };
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

const ID_PREFIXES: Readonly<Record<WireName, string>> = {
  chat: 'chatcmpl-',
  responses: 'resp_',
  messages: 'msg_',
};

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
