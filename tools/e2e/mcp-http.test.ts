import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect } from 'vitest';

import { calls, configureUser } from './support/mcp.ts';
import { failedCalls } from './support/outcomes.ts';
import { sent } from './support/requests.ts';
import { LAST_WORD } from './support/scripts.ts';
import { longTest, test } from './support/test.ts';

/** Hazard: a server over HTTP at another address than the user agreed to, or one that gives its key away. */

const CANARY = 'sk-canary-0123456789abcdef';

type Act = (id: unknown, response: ServerResponse, request: IncomingMessage) => void;

type Served = {
  readonly url: string;
  readonly asked: () => number;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

/** A server whose only tool does what the test says. */
async function serve(address: string, act: Act): Promise<Served> {
  let asked = 0;
  const server = createServer((request, response) => {
    void (async () => {
      asked += 1;
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      if (request.method !== 'POST') return response.writeHead(405).end();
      const { id, method } = JSON.parse(Buffer.concat(parts).toString()) as {
        readonly id?: number;
        readonly method: string;
      };
      const results: Readonly<Record<string, object>> = {
        initialize: {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'web', version: '1' },
        },
        'tools/list': { tools: [{ name: 'act', inputSchema: { type: 'object' } }] },
      };
      if (method === 'tools/call') return act(id, response, request);
      if (id === undefined) return response.writeHead(202).end();
      const error = { code: -32_601, message: 'not found' };
      const answer = results[method] === undefined ? { error } : { result: results[method] };
      return response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  return {
    url: `http://${address}:${(server.address() as AddressInfo).port}/mcp`,
    asked: () => asked,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

const answers =
  (message: (request: IncomingMessage) => object): Act =>
  (id, response, request) =>
    void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, ...message(request) }));

const LEAKS: readonly (readonly [how: string, act: Act, failed: readonly (readonly string[])[]])[] =
  [
    [
      'in a result',
      answers(({ headers }) => ({
        result: { content: [{ type: 'text', text: `You are ${String(headers['x-api-key'])}.` }] },
      })),
      [],
    ],
    [
      'in an error',
      answers(({ headers }) => ({
        error: { code: -32_000, message: `Go away, ${String(headers['x-api-key'])}` },
      })),
      [['mcp__web__act', 'TOOL_FAILED']],
    ],
    [
      'with another status',
      (_id, response, { headers }) =>
        void response.writeHead(401).end(String(headers['x-api-key'])),
      [['mcp__web__act', 'TOOL_FAILED']],
    ],
  ];

for (const [index, [where, act, failed]] of LEAKS.entries()) {
  const title = `keeps the key of a server to itself that gives it back ${where}`;
  test.concurrent(title, { tags: index === 0 ? [] : ['long'] }, async ({ machine }) => {
    await using server = await serve('127.0.0.1', act);
    await configureUser(machine, {
      mcpServers: { web: { url: server.url, headers: { 'X-Api-Key': '${WEB_KEY}' } } },
      mcpEnvironment: ['WEB_KEY'],
      allowMcpTools: ['mcp__web__act'],
    });
    const provider = await machine.provider(calls(['mcp__web__act', {}]));
    const ended = await machine.ask(provider, ['--json'], { env: { WEB_KEY: CANARY } });
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(failedCalls(ended)).toEqual(failed);
    expect(server.asked()).toBeGreaterThan(3);
    expect(ended.stdout + ended.stderr).not.toContain(CANARY);
    expect(JSON.stringify(sent(provider.requests))).not.toContain(CANARY);
    // In no file of the workspace or of the home.
    const found = execFileSync('sh', ['-c', 'grep -rlaF "$0" "$1" || true', CANARY, machine.root], {
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim();
    expect(found).toBe('');
  });
}

longTest(
  'asks a server over plain http elsewhere only if the user names its host',
  async ({ machine }) => {
    // Of this machine, too, but it has no name that says so.
    await using server = await serve('127.0.0.2', () => undefined);
    const { host } = new URL(server.url);
    const mcpServers = { web: { url: server.url } };
    await machine.write('orion.config.json', JSON.stringify({ mcpServers, mcpHosts: [host] }));
    await machine.run(['trust']);
    const provider = await machine.provider({ behaviours: [LAST_WORD] });
    const refused = await machine.ask(provider);
    expect(refused.exitCode).toBe(0);
    expect(refused.stderr).toContain(
      'The MCP server web was left out: its URL is neither https nor on this machine, and mcpHosts of your own configuration does not list its host.',
    );
    expect(refused.stderr).toContain('mcpHosts');
    expect(server.asked()).toBe(0);
    await configureUser(machine, { mcpHosts: [host] });
    const tested = await machine.run(['mcp', 'test', 'web']);
    expect(tested.exitCode, tested.stderr).toBe(0);
    expect(tested.stdout).toContain('mcp__web__act');
  },
);
