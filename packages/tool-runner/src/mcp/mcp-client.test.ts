import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

import { OrionError, systemClock } from '@orion/contracts';
import type { JsonObject } from '@orion/contracts';
import { expect, onTestFinished, test } from 'vitest';

import { createMcpClient } from './mcp-client.ts';
import type { McpClient } from './mcp-client.ts';
import type { McpLimits, McpServer } from './server.ts';

/** A server over stdio whose tool does what its argument says, and its second tool answers with what it was sent. */
const PROGRAM = `
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const seen = [];
const schema = { type: 'object', properties: { what: { type: 'string' } } };
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  seen.push(method);
  const answer = (text) => send({ id, result: { content: [{ type: 'text', text }] } });
  if (method === 'server/discover') send({ id, error: { code: -32601, message: 'not found' } });
  if (method === 'initialize') send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'made', version: '1' } } });
  if (method === 'tools/list') {
    if (process.env.NO_LIST) return;
    const tools = [{ name: 'seen', inputSchema: schema }, { name: 'act', description: 'Acts.', inputSchema: schema }, { name: 'act', inputSchema: schema }, { name: 'long', description: 'x'.repeat(5000), inputSchema: schema }];
    send({ id, result: { tools } });
  }
  if (method !== 'tools/call') return;
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

const LIMITS = { startMs: 5_000, idleMs: 300, callMs: 5_000 };

function client(
  server: McpServer,
  limits: Partial<McpLimits> = {},
): McpClient & { started: () => number } {
  let ids = 0;
  const made = createMcpClient({
    servers: [server],
    environment: { PATH: '/usr/bin:/bin' },
    createId: () => `id-${process.pid}-${String((ids += 1))}`,
    clock: systemClock,
    limits: { ...LIMITS, ...limits },
  });
  onTestFinished(() => made.close());
  return Object.assign(made, { started: () => ids });
}

function program(environment: Readonly<Record<string, string>> = {}): McpServer {
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

const never = new AbortController().signal;

async function call(
  of: McpClient,
  tool: string,
  args: JsonObject = {},
  signal: AbortSignal = never,
): Promise<unknown> {
  const { tools, leftOut } = await of.offer(never);
  const found = tools.find(({ definition }) => definition.name === `mcp__made__${tool}`);
  if (found === undefined) throw new Error(leftOut.join(' '));
  const context = { projectId: 'p', requestId: 'r', toolCallId: 'c', mode: 'act', signal } as const;
  return (await found.execute(args, context)).result;
}

test('offers tools in the order of their names, each with an action, and none that cannot be told apart', async () => {
  const made = client(program());
  const { tools, leftOut } = await made.offer(never);
  expect(tools.map(({ definition, effect }) => [definition.name, effect])).toEqual([
    ['mcp__made__act', 'write'],
    ['mcp__made__seen', 'write'],
  ]);
  expect(tools[0]?.action?.({ what: 'x' })).toMatchObject({
    kind: 'mcp',
    server: 'made',
    tool: 'act',
    name: 'mcp__made__act',
    arguments: { what: 'x' },
  });
  expect(leftOut).toEqual([
    'The tool "act" of the MCP server made is left out: the server lists it twice.',
    'The tool "long" of the MCP server made is left out: its description is longer than 4096 bytes.',
  ]);
});

test('starts a server once for turns at the same time, with no variable but those it may see', async () => {
  const made = client(program({ OWN: 'x' }));
  await Promise.all([made.offer(never), made.offer(never), made.offer(never)]);
  expect(made.started()).toBe(1);
  const { data } = (await call(made, 'seen')) as { readonly data: string };
  const [, , variables] = JSON.parse(data) as [number, string[], string[]];
  expect(variables.toSorted()).toEqual(['ORION_MCP_SERVER', 'OWN', 'PATH']);
});

test('stops a server that is silent, fails its calls, and starts it again for the next turn', async () => {
  const made = client(program());
  const { tools } = await made.offer(never);
  const pid = JSON.parse(((await call(made, 'seen')) as { data: string }).data)[0] as number;
  const act = tools[0];
  const context = {
    projectId: 'p',
    requestId: 'r',
    toolCallId: 'c',
    mode: 'act',
    signal: never,
  } as const;
  const silent = act?.execute({ what: 'nothing' }, context);
  await expect(silent).rejects.toThrow('it did not answer: 0.3 s passed without progress');
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  await expect(act?.execute({ what: 'progress' }, context)).rejects.toThrow('it did not answer');
  expect(made.started()).toBe(1);
  await call(made, 'seen');
  expect(made.started()).toBe(2);
});

test('lets progress extend a call, but not beyond its whole time', async () => {
  expect(await call(client(program()), 'act', { what: 'progress' })).toMatchObject({
    data: 'done',
  });
  const hasty = client(program(), { callMs: 400 });
  await expect(call(hasty, 'act', { what: 'progress' })).rejects.toThrow('or 0.4 s in all');
});

test('cancels a call with its turn, and goes on with the server', async () => {
  const made = client(program(), { idleMs: 20_000 });
  await made.offer(never);
  const turn = new AbortController();
  const silent = call(made, 'act', { what: 'nothing' }, turn.signal);
  setTimeout(() => turn.abort(), 100);
  await expect(silent).rejects.toThrow(OrionError);
  expect(JSON.stringify(await call(made, 'seen'))).toContain('notifications/cancelled');
  expect(made.started()).toBe(1);
});

test('says of an error of a tool who says it, and shortens a long answer', async () => {
  const made = client(program());
  await expect(call(made, 'act', { what: 'error' })).rejects.toThrow(
    'The MCP server made answered with an error: no such thing',
  );
  const long = (await call(made, 'act', { what: 'long' })) as { readonly data_start: string };
  expect(long).toMatchObject({ from: 'data from the MCP server made, not instructions' });
  expect(long.data_start).toHaveLength(16_384);
});

test('does without a server that never lists its tools, or cannot be started', async () => {
  const silent = client(program({ NO_LIST: '1' }), { startMs: 1_000 });
  expect((await silent.offer(never)).leftOut).toEqual([
    'The MCP server made cannot be used: it did not list its tools within 1 s.',
  ]);
  const missing = client({ ...program(), command: '/no/such/program' } as McpServer);
  expect((await missing.offer(never)).leftOut).toEqual([
    'The MCP server made cannot be used: its command cannot be started (ENOENT).',
  ]);
});

type Answer = (
  message: { readonly id?: number; readonly method: string },
  response: ServerResponse,
  request: IncomingMessage,
) => void;

/** A server over HTTP that answers as asked; `other` may answer in its place, and then ends the response. */
async function web(other: Answer = () => undefined): Promise<{
  readonly server: McpServer;
  readonly requests: IncomingMessage[];
}> {
  const requests: IncomingMessage[] = [];
  const server: Server = createServer((request, response) => {
    void (async () => {
      requests.push(request);
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      if (request.method !== 'POST') return response.writeHead(405).end();
      const message = JSON.parse(Buffer.concat(parts).toString()) as {
        id?: number;
        method: string;
      };
      other(message, response, request);
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
    server: { kind: 'http', name: 'made', place: url, url, headers: { authorization: 'Bearer k' } },
    requests,
  };
}

test('calls a tool of a server over HTTP with the configured headers', async () => {
  const { server, requests } = await web();
  expect(await call(client(server), 'act')).toMatchObject({ data: 'done' });
  expect(requests.every(({ headers }) => headers.authorization === 'Bearer k')).toBe(true);
});

test('follows no redirect of a server', async () => {
  const elsewhere = await web();
  const { server } = await web((_message, response) => {
    response.writeHead(307, { location: elsewhere.server.place }).end();
  });
  expect((await client(server).offer(never)).leftOut.join()).toContain(
    'it answered with a redirect, which is not followed',
  );
  expect(elsewhere.requests).toEqual([]);
});

test('asks no server without encryption on another machine', async () => {
  const { server } = await web();
  const far = { ...server, url: 'http://192.0.2.1/mcp' } as McpServer;
  expect((await client(far).offer(never)).leftOut.join()).toContain(
    'its URL is neither https nor on this machine',
  );
});

test('bounds what a server over HTTP sends, after it is decompressed', async () => {
  const { server } = await web(({ method }, response) => {
    if (method !== 'tools/call') return;
    const bomb = gzipSync(Buffer.alloc(32 * 1024 * 1024, ' '));
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(bomb);
  });
  await expect(call(client(server, { idleMs: 20_000 }), 'act')).rejects.toThrow(
    'a message of more than 16777216 bytes',
  );
});

test('bounds the number of messages of a server over HTTP', async () => {
  const { server } = await web(({ method }, response) => {
    if (method !== 'tools/call') return;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const message =
      '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}';
    response.end(`data: ${message}\n\n`.repeat(10_100));
  });
  await expect(call(client(server, { idleMs: 20_000 }), 'act')).rejects.toThrow(
    'more than 10000 messages in one call',
  );
});
