import { systemClock } from '@orion/contracts';
import type { McpServer } from '@orion/tool-runner/mcp';
import { expect, test } from 'vitest';

import { inspectMcpServer, lazyMcpClient } from './lazy-client.ts';

/** Hazard: servers start that nobody asked for, what they write is lost or holds a key, or they outlive the client. */

const KEY = 'canary-0123456789';

const PROGRAM = `
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
process.stderr.write('started ' + process.pid + '\\n');
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method === 'server/discover') send({ id, error: { code: -32601, message: 'not found' } });
  if (method === 'initialize') {
    send({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'made', version: '1' } } });
    send({ id: 'roots', method: 'roots/list' });
  }
  if (id === 'roots') process.stderr.write('roots ' + line + '\\n');
  if (method === 'tools/list') {
    const description = Object.keys(process.env).toSorted().join() + ' ' + process.env.API_KEY + ' ' + process.pid;
    send({ id, result: { tools: [{ name: 'act', description, inputSchema: { type: 'object' } }] } });
  }
});
`;

const SERVER: McpServer = {
  kind: 'stdio',
  name: 'made',
  place: 'made',
  command: process.execPath,
  args: ['-e', PROGRAM],
  environment: { API_KEY: KEY },
  folder: '/',
};

const MCP = { servers: [SERVER], environment: { PATH: '/usr/bin:/bin' }, secrets: [KEY] };
const { signal } = new AbortController();
const redact = (text: string): string => text.replaceAll(KEY, '*');
const surroundings = { clock: systemClock, redact, root: '/the workspace' };

test.each([[undefined], [{ servers: [], environment: {} }]])(
  'offers nothing of %j',
  async (mcp) => {
    const client = lazyMcpClient(mcp, surroundings, () => {
      throw new Error('a log');
    });
    expect(await client.offer(signal)).toEqual({ tools: [], leftOut: [] });
    await client.close();
  },
);

test('starts servers with the first turn, keeps what they write in one log each, and ends them', async () => {
  const opened: string[] = [];
  let said = '';
  let closed = 0;
  const client = lazyMcpClient(MCP, surroundings, (server) => {
    opened.push(server);
    return {
      append: (text) => {
        said += text;
      },
      close: () => {
        closed += 1;
        return Promise.resolve();
      },
    };
  });
  expect(opened).toEqual([]);
  const { tools, leftOut } = await client.offer(signal);
  expect(leftOut).toEqual([]);
  expect(tools.map(({ definition }) => definition.description)).toEqual([
    expect.stringMatching(
      /^A tool of the MCP server made\. API_KEY,ORION_MCP_SERVER,PATH \* \d+$/u,
    ),
  ]);
  await client.offer(signal);
  await expect.poll(() => said).toContain('roots');
  expect(said).toContain('file:///the%20workspace');
  expect(opened).toEqual(['made']);
  const [, pid] = /^started (\d+)$/mu.exec(said) ?? [];
  expect(said.match(/^started/gmu)).toHaveLength(1);
  await client.close();
  expect(closed).toBe(1);
  expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH');
});

test('closes what was never started', async () => {
  const client = lazyMcpClient(MCP, surroundings, () => {
    throw new Error('a log');
  });
  await client.close();
});

test('inspects one server without its key, and ends it', async () => {
  const report = await inspectMcpServer(MCP, 'made', { signal, workspace: '/w' });
  expect(report).toEqual({
    server: 'made',
    place: 'made',
    revision: '2025-11-25',
    tools: [
      {
        name: 'mcp__made__act',
        description: expect.stringMatching(
          /^A tool of the MCP server made\. API_KEY,ORION_MCP_SERVER,PATH \[REDACTED\] \d+$/u,
        ) as string,
        parameters: { type: 'object' },
      },
    ],
    leftOut: [],
  });
  const pid = Number(report.tools[0]?.description.split(' ').at(-1));
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  await expect(inspectMcpServer(MCP, 'other', { signal, workspace: '/w' })).rejects.toMatchObject({
    code: 'USAGE',
    hint: 'Configured: made.',
  });
  const missing = { ...MCP, servers: [{ ...SERVER, command: '/no/such/program' }] };
  await expect(
    inspectMcpServer(missing, 'made', { signal, workspace: '/w' }),
  ).rejects.toMatchObject({ code: 'TOOL_FAILED' });
});
