import { createServer } from 'node:net';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { OrionError } from '@orion/contracts';
import { expect, onTestFinished, test, vi } from 'vitest';

import { call, client, CONTEXT, never, web } from './testing/made-servers.ts';

/** Hazard: a server over HTTP that does not do what the protocol says, in its first answer or in the middle of a call. */

const KEY = 'canary-0123456789';
/** Silence is noticed soon; whatever else a server does is noticed by what it sends, however slow the machine is. */
const SOON = { idleMs: 300, callMs: 1_000 };
const LATE = { startMs: 60_000, idleMs: 60_000, callMs: 60_000 };
const LIMITS = { ...LATE, messageBytes: 1 << 20, messages: 200 };
/** All of this goes through the event loop of the tests, which a busy machine lets run seldom. */
const TIME_LIMIT = { timeout: 30_000 };
const SILENT = /it did not answer: 0.3 s passed without progress/u;
const JSON_TYPE = { 'content-type': 'application/json' };
const EVENTS = { 'content-type': 'text/event-stream' };

const result = (id: unknown, text = 'done'): string =>
  JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } });
const event = (data: string): string => `event: message\ndata: ${data}\n\n`;
const notice = JSON.stringify({
  jsonrpc: '2.0',
  method: 'notifications/message',
  params: { level: 'info', data: 1 },
});

/** Writes for as long as the other side reads. */
function endlessly(response: ServerResponse, text: string): void {
  const more = (): void => {
    while (!response.destroyed && response.write(text));
  };
  response.on('drain', more);
  more();
}

type Act = (id: unknown, response: ServerResponse) => void;

const ACTS: Readonly<Record<string, readonly [act: Act, error: RegExp]>> = {
  'a flood of events': [
    (_id, response) => endlessly(response.writeHead(200, EVENTS), event(notice)),
    /it sent more than 200 messages in one call/u,
  ],
  'a flood of events whose lines end in CR': [
    (_id, response) => endlessly(response.writeHead(200, EVENTS), `data: ${notice}\r\r`),
    /it sent more than 200 messages in one call/u,
  ],
  'an endless event': [
    (_id, response) => {
      response.writeHead(200, EVENTS).write('data: {"jsonrpc":"2.0","x":"');
      endlessly(response, 'x'.repeat(10_000));
    },
    /it sent a message of more than 1048576 bytes/u,
  ],
  'an endless comment': [
    (_id, response) => endlessly(response.writeHead(200, EVENTS), `: ${'x'.repeat(10_000)}\n`),
    /it sent a message of more than 1048576 bytes/u,
  ],
  'endless JSON': [
    (_id, response) => endlessly(response.writeHead(200, JSON_TYPE), ' '.repeat(10_000)),
    /it sent a message of more than 1048576 bytes/u,
  ],
  'an endless page': [
    (_id, response) => {
      endlessly(response.writeHead(500, { 'content-type': 'text/html' }), 'x'.repeat(10_000));
    },
    /it sent a message of more than 1048576 bytes/u,
  ],
  silence: [() => undefined, SILENT],
  'silence after the head': [
    (_id, response) => response.writeHead(200, JSON_TYPE).flushHeaders(),
    SILENT,
  ],
  'a stream that stays silent': [
    (_id, response) => response.writeHead(200, EVENTS).write(': \n\n'),
    SILENT,
  ],
  'a stream that is kept alive': [
    (_id, response) => {
      response.writeHead(200, EVENTS);
      const timer = setInterval(() => response.write(': \n\n'), 50);
      response.on('close', () => clearInterval(timer));
    },
    SILENT,
  ],
  'a body that is not JSON': [
    (_id, response) => response.writeHead(200, JSON_TYPE).end('{"jsonrpc": "2.0", oops'),
    /it answered with what is not a JSON-RPC message/u,
  ],
  'JSON that is not a message': [
    (_id, response) => response.writeHead(200, JSON_TYPE).end('{"hello": 1}'),
    /it answered with what is not a JSON-RPC message/u,
  ],
  'an event that is not JSON': [
    (_id, response) => response.writeHead(200, EVENTS).end(event('{"jsonrpc": oops')),
    /it ended the connection without an answer/u,
  ],
  'nothing where a result should be': [
    (id, response) =>
      response.writeHead(200, JSON_TYPE).end(`{"jsonrpc":"2.0","id":${String(id)},"result":7}`),
    /it answered with what is not a/u,
  ],
  'a result of another kind': [
    (id, response) =>
      response
        .writeHead(200, JSON_TYPE)
        .end(`{"jsonrpc":"2.0","id":${String(id)},"result":{"content":[{"type":7}]}}`),
    /it answered with what is not a result of the request/u,
  ],
  'JSON that is nested too deeply': [
    (id, response) => {
      const deep = '['.repeat(50_000) + ']'.repeat(50_000);
      response
        .writeHead(200, EVENTS)
        .end(event(`{"jsonrpc":"2.0","id":${String(id)},"result":{"content":[],"x":${deep}}}`));
    },
    /it sent JSON that is nested deeper than 512 levels/u,
  ],
  'a connection that is reset': [
    (_id, response) => response.socket?.resetAndDestroy(),
    /it cannot be reached \((?:ECONNRESET|UND_ERR_SOCKET)\)/u,
  ],
  'a body that is cut': [
    (id, response) => {
      response.writeHead(200, { ...JSON_TYPE, 'content-length': 5_000 }).write(result(id));
      setTimeout(() => response.destroy(), 20);
    },
    /it cannot be reached|the connection was cut/u,
  ],
  'a stream that is cut': [
    (id, response) => {
      response.writeHead(200, EVENTS).write(`data: ${result(id)}`);
      setTimeout(() => response.destroy(), 20);
    },
    /it ended the connection without an answer/u,
  ],
  'a stream that ends': [
    (_id, response) => response.writeHead(200, EVENTS).end(event(notice)),
    /it ended the connection without an answer/u,
  ],
  'the answer to another call': [
    (_id, response) => response.writeHead(200, JSON_TYPE).end(result(4_711)),
    SILENT,
  ],
  'the answer to no call': [
    (_id, response) => response.writeHead(200, EVENTS).end(event(result('__proto__'))),
    /it ended the connection without an answer/u,
  ],
  'a redirect': [
    (_id, response) => response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
    /it answered with a redirect, which is not followed/u,
  ],
  'status 300': [
    (_id, response) => response.writeHead(300).end(),
    /it answered with a redirect, which is not followed/u,
  ],
  'status 399': [
    (_id, response) => response.writeHead(399).end(),
    /it answered with a redirect, which is not followed/u,
  ],
  'status 400': [(_id, response) => response.writeHead(400).end(), /HTTP status 400\.$/u],
  'a page': [
    (_id, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>hello'),
    /it answered with neither JSON nor an event stream/u,
  ],
  'no type': [
    (id, response) => response.writeHead(200).end(result(id)),
    /it answered with neither JSON nor an event stream/u,
  ],
  'an empty answer': [
    (_id, response) => response.writeHead(204).end(),
    /it answered with neither JSON nor an event stream/u,
  ],
  'acceptance without an answer': [(_id, response) => response.writeHead(202).end(), SILENT],
  'status 401': [
    (_id, response) => response.writeHead(401, { 'www-authenticate': 'Bearer' }).end(KEY),
    /HTTP status 401, which asks for other credentials: check its headers/u,
  ],
  'status 403': [(_id, response) => response.writeHead(403).end(), /HTTP status 403/u],
  'status 404': [(_id, response) => response.writeHead(404).end(), /it has forgotten the session/u],
  'status 500': [(_id, response) => response.writeHead(500).end(KEY), /HTTP status 500/u],
  'status 101': [
    (_id, response) => response.socket?.end('HTTP/1.1 101 Switching Protocols\r\n\r\nGET /'),
    /it cannot be reached|it answered with HTTP status 101/u,
  ],
  'no HTTP': [
    (_id, response) => response.socket?.end('{"jsonrpc":"2.0"}\n'),
    /it cannot be reached \(Response does not match the HTTP\/1.1 protocol/u,
  ],
  'an endless head': [
    (_id, response) => {
      const { socket } = response;
      socket?.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket?.write(`x: ${'x'.repeat(50_000)}\r\n`), 1);
      socket?.on('error', () => undefined).on('close', () => clearInterval(timer));
    },
    /it cannot be reached \(UND_ERR_HEADERS_OVERFLOW\)/u,
  ],
  'an error with its key': [
    (id, response) => {
      const error = {
        code: -32_000,
        message: `no: ${'x'.repeat(995)}${KEY}${'x'.repeat(100_000)}`,
      };
      response.writeHead(200, JSON_TYPE).end(JSON.stringify({ jsonrpc: '2.0', id, error }));
    },
    /it answered with an error: no: x{995}\[\.$/u,
  ],
};

test.for(Object.entries(ACTS))(
  'fails a call with a reason: %s',
  TIME_LIMIT,
  async ([, [act, error]]) => {
    const { server } = await web(({ id, method }, response) => {
      if (method === 'tools/call') {
        act(id, response);
        return 'answered';
      }
      return undefined;
    });
    const called = client(server, { ...LIMITS, ...(error === SILENT ? SOON : {}) });
    await called.offer(never);
    const failed = await call(called, 'act').then(
      () => null,
      (cause: unknown) => cause as OrionError,
    );
    expect(failed?.message).toMatch(error);
    expect(failed?.message).not.toContain(KEY.slice(0, 6));
    const isRefused = /with an error|status 4|forgotten/u.test(error.source);
    expect(failed?.hint?.includes('had any effect is not known') ?? false).toBe(!isRefused);
  },
);

/** What a server does when it is asked who it is, and what is said of it. */
const STARTS = [
  'silence',
  'a stream that is kept alive',
  'a flood of events',
  'endless JSON',
  'a body that is not JSON',
  'a redirect',
  'a page',
  'status 401',
  'status 500',
  'status 101',
  'no HTTP',
  'a connection that is reset',
  'an error with its key',
];

test.for(STARTS)('does without a server that begins with %s', TIME_LIMIT, async (name) => {
  const { server } = await web(({ id }, response) => {
    ACTS[name]?.[0](id, response);
    return 'answered';
  });
  const startMs = ACTS[name]?.[1] === SILENT ? 1_000 : LIMITS.startMs;
  const { tools, leftOut } = await client(server, { ...LIMITS, startMs }).offer(never);
  expect(tools).toEqual([]);
  expect(leftOut).toEqual([
    expect.stringMatching(
      /^The MCP server made cannot be used: (?:it |the connection was closed)(?:.|\n){5,1200}\.$/u,
    ),
  ]);
  expect(leftOut[0]).not.toContain(KEY.slice(0, 6));
});

test.for([
  [198, null],
  [199, 'it sent more than 200 messages in one call'],
] as const)('counts the answer and its events: %i beside the result: %s', async ([count, why]) => {
  const { server } = await web(({ id, method }, response) => {
    if (method !== 'tools/call') return undefined;
    response.writeHead(200, EVENTS).end(event(notice).repeat(count) + event(result(id)));
    return 'answered';
  });
  const called = client(server, LIMITS);
  const twice = async (): Promise<unknown> => {
    await call(called, 'act');
    return call(called, 'act');
  };
  await (why === null
    ? expect(twice()).resolves.toBeDefined()
    : expect(twice()).rejects.toThrow(why));
});

test('takes the first of two answers to a call', async () => {
  const { server } = await web(({ id, method }, response) => {
    if (method !== 'tools/call') return undefined;
    response.writeHead(200, EVENTS).end(event(result(id, 'first')) + event(result(id, 'second')));
    return 'answered';
  });
  expect(await call(client(server, LIMITS), 'act')).toMatchObject({ data: 'first' });
});

test('takes the key of a server out of its answers', async () => {
  const { server } = await web(({ id, method }, response, { headers }) => {
    if (method !== 'tools/call') return undefined;
    const said = `You sent ${String(headers.authorization)}, or ${btoa(String(headers.authorization))}`;
    response.writeHead(200, JSON_TYPE).end(result(id, said));
    return 'answered';
  });
  const { data } = (await call(client(server, LIMITS), 'act')) as { readonly data: string };
  expect(data).toMatch(
    /^You sent Bearer \[REDACTED\], or [A-Za-z0-9+/]*\[REDACTED\][A-Za-z0-9+/=]*$/u,
  );
});

test('does not ask again without end for a stream that ends at once', TIME_LIMIT, async () => {
  let asked = 0;
  const { server } = await web(undefined, (response) => {
    asked += 1;
    response.writeHead(200, EVENTS).end('retry: 0\n\n');
  });
  const called = client(server, { ...LIMITS, messages: 10 });
  const { tools } = await called.offer(never);
  const began = performance.now();
  await expect.poll(() => asked, { timeout: 5_000 }).toBeGreaterThan(3);
  // Not sooner than after 100 ms each, whatever the server says.
  expect(performance.now() - began).toBeGreaterThan(200);
  let before = 0;
  await expect
    .poll(
      () => {
        const more = asked - before;
        before = asked;
        return more;
      },
      { interval: 200, timeout: 10_000 },
    )
    .toBe(0);
  await expect(tools[0]?.execute({}, CONTEXT)).rejects.toThrow('it sent more than 10 messages');
});

test('begins another session at the next turn with a server that has forgotten it', async () => {
  let forgets = true;
  const { server, requests } = await web(({ method }, response) => {
    if (method !== 'tools/call' || !forgets) return undefined;
    forgets = false;
    response.writeHead(404).end();
    return 'answered';
  });
  const called = client(server, LIMITS);
  const { tools } = await called.offer(never);
  await expect(tools[0]?.execute({}, CONTEXT)).rejects.toThrow('it has forgotten the session');
  const before = requests.length;
  // A call that was never made had no effect.
  await expect(tools[0]?.execute({}, CONTEXT)).rejects.toMatchObject({
    message: expect.stringContaining('it has forgotten the session') as string,
    hint: 'It is not started again in this turn: go on without its tools.',
  });
  expect(requests).toHaveLength(before);
  expect(await call(called, 'act')).toMatchObject({ data: 'done' });
});

test('begins another session with a server that calls a forgotten one a bad request', async () => {
  let isRestarted = false;
  let begun = 0;
  const { server } = await web(({ method }, response) => {
    if (method === 'initialize') begun += 1;
    if (method !== 'tools/list' || !isRestarted) return undefined;
    isRestarted = false;
    response.writeHead(400).end('Bad Request: No valid session ID provided');
    return 'answered';
  });
  const called = client(server, LIMITS);
  expect((await called.offer(never)).tools).toHaveLength(1);
  isRestarted = true;
  expect((await called.offer(never)).leftOut.join()).toContain('HTTP status 400');
  expect((await called.offer(never)).tools).toHaveLength(1);
  expect(begun).toBe(2);
});

test('prints nothing about a server without tools', async () => {
  const { server } = await web(({ id, method }, response) => {
    if (method !== 'initialize') return undefined;
    const serverInfo = { name: 'web', version: '1' };
    const answer = { protocolVersion: '2025-11-25', capabilities: { resources: {} }, serverInfo };
    response.writeHead(200, JSON_TYPE).end(JSON.stringify({ jsonrpc: '2.0', id, result: answer }));
    return 'answered';
  });
  const printed = vi.spyOn(console, 'debug');
  onTestFinished(() => printed.mockRestore());
  const { tools, leftOut } = await client(server, LIMITS).offer(never);
  expect(tools.map(({ definition }) => definition.name)).toEqual(['mcp__made__read_resource']);
  expect([leftOut, printed.mock.calls]).toEqual([[], []]);
});

test('asks about what a server says now, whatever it said before', async () => {
  let turn = 0;
  const { server } = await web(({ id, method }, response) => {
    if (method !== 'tools/list') return undefined;
    turn += 1;
    const tool = { name: turn < 3 ? 'act' : 'acts', inputSchema: { type: 'object' } };
    const tools = [{ ...tool, description: turn === 1 ? 'Acts.' : 'Acts otherwise.' }];
    response
      .writeHead(200, JSON_TYPE)
      .end(JSON.stringify({ jsonrpc: '2.0', id, result: { tools } }));
    return 'answered';
  });
  const called = client(server, LIMITS);
  const actions = [];
  for (let at = 0; at < 3; at += 1) {
    const { tools } = await called.offer(never);
    actions.push(tools.map((tool) => tool.action?.({})));
  }
  const definitions = actions.flat().map((action) => (action as { definition: object }).definition);
  expect(definitions[1]).not.toEqual(definitions[0]);
  expect(actions.flat()).toMatchObject([{ tool: 'act' }, { tool: 'act' }, { tool: 'acts' }]);
});

test('reaches no server that nothing listens for', async () => {
  const free = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => free.once('listening', resolve));
  const { port } = free.address() as AddressInfo;
  const closed = new Promise((resolve) => free.close(resolve));
  onTestFinished(() => closed.then(() => undefined));
  await closed;
  const url = `http://127.0.0.1:${port}/mcp`;
  const server = { kind: 'http', name: 'made', place: url, url, headers: {} } as const;
  expect((await client(server, LIMITS).offer(never)).leftOut).toEqual([
    'The MCP server made cannot be used: it cannot be reached (ECONNREFUSED).',
  ]);
});
