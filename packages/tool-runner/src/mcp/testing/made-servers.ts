import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { KeysInUse, systemClock } from '@orion/contracts';
import type { Clock, JsonObject, ToolExecutionContext } from '@orion/contracts';
import { onTestFinished } from 'vitest';

import { createMcpClient } from '../mcp-client.ts';
import type { McpClient } from '../mcp-client.ts';
import type { McpLimits, McpServer } from '../server.ts';

/** A server over stdio whose tool does what its argument says, and its second tool answers with what it was sent. */
const PROGRAM = `
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const seen = [];
if (process.env.FIRST) process.stdout.write(process.env.FIRST);
const schema = { type: 'object', properties: { what: { type: 'string' } } };
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  seen.push(method);
  const answer = (text) => send({ id, result: { content: [{ type: 'text', text }] } });
  if (process.env.MUTE || (method && method === process.env.SILENT)) return;
  if (method && method === process.env.EXIT) { process.stderr.write('bye'); return process.exit(1); }
  if (id === 'roots' && process.env.OWN) return process.stderr.write(line + '\\n');
  if (method === 'notifications/initialized') send({ id: 'roots', method: 'roots/list' });
  const fresh = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
  if (method === 'server/discover') send(process.env.MODERN ? { id, result: { ...fresh, supportedVersions: ['2026-07-28'], capabilities: { tools: {} } } } : { id, error: { code: -32601, message: 'not found' } });
  if (method === 'initialize') send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'made', version: '1' } } });
  if (method === 'tools/list') {
    if (process.env.NO_LIST) return;
    if (process.env.MODERN) return send({ id, result: { ...fresh, tools: JSON.parse(process.env.MODERN) } });
    const tools = [{ name: 'seen', inputSchema: schema }, { name: 'act', description: 'Acts.', inputSchema: schema }, { name: 'act', inputSchema: schema }, { name: 'long', description: 'x'.repeat(5000), inputSchema: schema }];
    send({ id, result: { tools: process.env.FEW ? tools.slice(0, 2) : tools } });
  }
  if (method !== 'tools/call') return;
  if (process.env.ACT) return new Function('id', 'send', 'answer', 'token', process.env.ACT)(id, send, answer, params._meta?.progressToken);
  if (params.name === 'seen') answer(JSON.stringify([process.pid, seen, Object.keys(process.env)]));
  else if (params.arguments.what === 'progress') {
    let progress = 0;
    const timer = setInterval(() => {
      progress += 1;
      send({ method: 'notifications/progress', params: { progressToken: params._meta.progressToken, progress } });
      if (progress === 10) { clearInterval(timer); answer('done'); }
    }, 60);
  } else if (params.arguments.what === 'error') send({ id, result: { isError: true, content: [{ type: 'text', text: 'no such thing' }] } });
  else if (params.arguments.what === 'long') answer('y'.repeat(20_000));
});
`;

/** Longer than an answer takes on a busy machine. What happens without one is tested with a limit of its own. */
const LIMITS = { startMs: 5_000, idleMs: 5_000, callMs: 5_000 };

export function client(
  server: McpServer | readonly McpServer[],
  limits: Partial<McpLimits> = {},
  onStderr: (server: string, text: string) => void = () => undefined,
  clock: Clock = systemClock,
): McpClient & { started: () => number } {
  let ids = 0;
  const made = createMcpClient({
    servers: [server].flat(),
    environment: { PATH: '/usr/bin:/bin' },
    createId: () => {
      ids += 1;
      return randomUUID();
    },
    clock,
    onStderr,
    root: '/the workspace',
    redact: new KeysInUse(['canary-0123456789']).redact,
    limits: { ...LIMITS, ...limits },
  });
  onTestFinished(() => made.close());
  return Object.assign(made, { started: () => ids });
}

export function program(environment: Readonly<Record<string, string>> = {}): McpServer {
  return {
    kind: 'stdio',
    name: 'made',
    place: 'made',
    command: process.execPath,
    args: ['-e', PROGRAM],
    environment,
    folder: '/',
  };
}

export const never = new AbortController().signal;

export const CONTEXT = {
  projectId: 'p',
  requestId: 'r',
  toolCallId: 'c',
  mode: 'act',
  signal: never,
} as const;

export async function call(
  of: McpClient,
  tool: string,
  args: JsonObject = {},
  signal: AbortSignal = never,
  onProgress?: ToolExecutionContext['onProgress'],
): Promise<unknown> {
  const { tools, leftOut } = await of.offer(never);
  const found = tools.find(({ definition }) => definition.name === `mcp__made__${tool}`);
  if (found === undefined) throw new Error(leftOut.join(' '));
  const context = { ...CONTEXT, signal, ...(onProgress === undefined ? {} : { onProgress }) };
  return (await found.execute(args, context)).result;
}

type Message = { readonly id?: number; readonly method: string; readonly params?: JsonObject };

export type Answer = (
  message: Message,
  response: ServerResponse,
  request: IncomingMessage,
) => 'answered' | undefined | void;

/** Answers as a server of the newest revision that has these tools. */
export function modern(tools: readonly object[]): Answer {
  const results: Readonly<Record<string, object>> = {
    'server/discover': { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
    'tools/list': { tools },
    'tools/call': { content: [{ type: 'text', text: 'done' }] },
  };
  return ({ id, method }, response) => {
    const fresh = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
    const result = { ...fresh, ...results[method] };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    return 'answered';
  };
}

/** A server over HTTP that answers as asked; `other` may answer in its place, `stream` when it is asked for one. */
export async function web(
  other: Answer = () => undefined,
  stream: (response: ServerResponse, request: IncomingMessage) => void = (response) =>
    void response.writeHead(405).end(),
): Promise<{
  readonly server: McpServer;
  readonly requests: IncomingMessage[];
  readonly messages: Message[];
}> {
  const messages: Message[] = [];
  const requests: IncomingMessage[] = [];
  const server: Server = createServer((request, response) => {
    void (async () => {
      requests.push(request);
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      if (request.method !== 'POST') return stream(response, request);
      const message = JSON.parse(Buffer.concat(parts).toString()) as {
        id?: number;
        method: string;
      };
      messages.push(message);
      if (other(message, response, request) === 'answered') return;
      if (response.writableEnded || response.headersSent) return;
      const { id, method } = message;
      const reply = (result: object): void =>
        void response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
      if (id === undefined) return response.writeHead(202).end();
      if (method === 'initialize') {
        const serverInfo = { name: 'web', version: '1' };
        return reply({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo });
      }
      if (method === 'tools/list') {
        return reply({ tools: [{ name: 'act', inputSchema: { type: 'object' } }] });
      }
      if (method === 'tools/call') return reply({ content: [{ type: 'text', text: 'done' }] });
      return response.writeHead(404).end();
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  return {
    server: {
      kind: 'http',
      name: 'made',
      place: url,
      url,
      headers: { authorization: 'Bearer canary-0123456789' },
    },
    requests,
    messages,
  };
}
