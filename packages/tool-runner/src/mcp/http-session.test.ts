import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, onTestFinished, test, vi } from 'vitest';

import { call, client, CONTEXT, never, web } from './testing/made-servers.ts';
import type { Answer } from './testing/made-servers.ts';

/** Hazard: what belongs to a connection beside its calls: the stream of a server's own messages, and the session. */

const JSON_TYPE = { 'content-type': 'application/json' };

/** Begins a session when it is asked to. */
const session: Answer = ({ id, method }, response) => {
  if (method !== 'initialize') return undefined;
  const serverInfo = { name: 'web', version: '1' };
  const result = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo };
  response.writeHead(200, { ...JSON_TYPE, 'mcp-session-id': 'session-1' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  return 'answered';
};

function ends(requests: readonly IncomingMessage[]): readonly unknown[] {
  return requests
    .filter(({ method }) => method === 'DELETE')
    .map(({ headers }) => headers['mcp-session-id']);
}

test('ends its session with a server', async () => {
  const { server, requests } = await web(session);
  const made = client(server);
  await made.offer(never);
  expect(ends(requests)).toEqual([]);
  await made.close();
  expect(ends(requests)).toEqual(['session-1']);
});

test('waits no longer than a second for a server to end a session', async () => {
  const { server, requests } = await web(session, (response, { method }) => {
    if (method !== 'DELETE') response.writeHead(405).end();
  });
  const made = client(server);
  await made.offer(never);
  const began = performance.now();
  await made.close();
  expect(performance.now() - began).toBeLessThan(4_000);
  expect(ends(requests)).toEqual(['session-1']);
});

test('does not ask a server that is broken to end a session', async () => {
  const { server, requests } = await web((message, response, request) =>
    message.method === 'tools/call' ? 'answered' : session(message, response, request),
  );
  const made = client(server, { idleMs: 200 });
  await expect(call(made, 'act')).rejects.toThrow('it did not answer');
  await made.close();
  expect(ends(requests)).toEqual([]);
});

for (const [name, status, headers, tags] of [
  ['a redirect', 302, { location: 'https://example.com/' }, []],
  ['a page', 200, { 'content-type': 'text/html' }, ['long']],
  ['nothing', 204, {}, ['long']],
] as const)
  test(
    `does without a stream from a server that has ${name} there`,
    { tags: [...tags] },
    async () => {
      let asked = 0;
      const { server } = await web(session, (response, { method }) => {
        if (method === 'GET') asked += 1;
        response.writeHead(status, headers).end();
      });
      const made = client(server);
      const { tools } = await made.offer(never);
      await expect.poll(() => asked).toBe(1);
      // It would ask again after a second.
      await sleep(1_300);
      expect(await tools[0]?.execute({}, CONTEXT)).toMatchObject({ result: { data: 'done' } });
      expect(asked).toBe(1);
    },
  );

test('asks again for the stream of a call that it did not get at once', async () => {
  let asked = 0;
  let call: unknown;
  const events = { 'content-type': 'text/event-stream' };
  const { server } = await web(
    (message, response, request) => {
      if (message.method !== 'tools/call') return session(message, response, request);
      call = message.id;
      response.writeHead(200, events).end('id: 1\nretry: 100\ndata: \n\n');
      return 'answered';
    },
    (response, { headers }) => {
      if (headers['last-event-id'] === undefined) return void response.writeHead(405).end();
      asked += 1;
      if (asked === 1) return void response.writeHead(503).end();
      const result = { content: [{ type: 'text', text: 'done' }] };
      const data = JSON.stringify({ jsonrpc: '2.0', id: call, result });
      response.writeHead(200, events).end(`data: ${data}\n\n`);
    },
  );
  const { tools } = await client(server).offer(never);
  expect(await tools[0]?.execute({}, CONTEXT)).toMatchObject({ result: { data: 'done' } });
  expect(asked).toBe(2);
});

test('uses a server of the old revision that fails at the question for the new one', async () => {
  let status = 500;
  const { server, messages } = await web(({ method }, response) => {
    if (method !== 'server/discover') return undefined;
    response.writeHead(status).end();
    return 'answered';
  });
  expect((await client(server).offer(never)).tools).toHaveLength(1);
  expect(messages.map(({ method }) => method)).toEqual([
    'server/discover',
    'initialize',
    'notifications/initialized',
    'tools/list',
  ]);
  messages.length = 0;
  status = 401;
  expect((await client(server).offer(never)).leftOut.join()).toContain('HTTP status 401');
  expect(messages).toHaveLength(1);
});

test('gives a server as long as its configuration says', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const waiting: (() => void)[] = [];
  const { server } = await web(({ id, method }, response) => {
    if (method !== 'initialize' && method !== 'tools/list') return undefined;
    const serverInfo = { name: 'web', version: '1' };
    const result =
      method === 'initialize'
        ? { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo }
        : { tools: [{ name: 'act', inputSchema: { type: 'object' } }] };
    waiting.push(() => {
      response.writeHead(200, JSON_TYPE).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
    return 'answered';
  });
  const offered = client({ ...server, startMs: 300_000 }).offer(never);
  for (const count of [1, 2]) {
    await vi.waitFor(() => expect(waiting).toHaveLength(count), { timeout: 4_000 });
    vi.advanceTimersByTime(90_000);
    waiting.at(-1)?.();
  }
  expect(await offered).toMatchObject({ tools: [{}], leftOut: [] });
});
