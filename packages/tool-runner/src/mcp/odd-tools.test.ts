import { expect, onTestFinished, test, vi } from 'vitest';

import { call, client, modern, never, program, web } from './testing/made-servers.ts';
import type { Answer } from './testing/made-servers.ts';

/** Hazard: an entry of a server's list that is no tool, or a list without end, takes the other tools with it. */

const schema = { type: 'object' };

/** Lists a page after the other; `next` says which follows. */
function pages(
  page: (cursor: string | null) => readonly [tools: readonly unknown[], next: unknown],
) {
  const cursors: (string | null)[] = [];
  const answer: Answer = ({ id, method, params }, response) => {
    if (method !== 'tools/list') return undefined;
    const cursor = (params?.['cursor'] as string | undefined) ?? null;
    cursors.push(cursor);
    const [tools, nextCursor] = page(cursor);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { tools, nextCursor } }));
    return 'answered';
  };
  return { answer, cursors };
}

async function offered(answer: Answer, tools = 10) {
  const offer = await client((await web(answer)).server, { tools }).offer(never);
  return { ...offer, names: offer.tools.map(({ definition }) => definition.name) };
}

test('leaves out an entry that is no tool, and reads the others kindly', async () => {
  const odd = [
    { name: 'act', description: null, inputSchema: {}, annotations: 'none', outputSchema: 7 },
    { name: 'text', inputSchema: { type: 'string' } },
    { name: 'list', inputSchema: [] },
    { name: 'none\u001B' },
    { name: 7, inputSchema: schema },
    null,
    { name: 'good', inputSchema: schema },
  ];
  const { tools, leftOut, names } = await offered(pages(() => [odd, null]).answer);
  expect(names).toEqual(['mcp__made__act', 'mcp__made__good']);
  expect(tools[0]?.definition).toMatchObject({
    description: 'A tool of the MCP server made.',
    parameters: schema,
  });
  const why =
    'of the MCP server made is left out: the schema of its arguments is not that of an object.';
  expect(leftOut).toEqual([
    `The tool "text" ${why}`,
    `The tool "list" ${why}`,
    String.raw`The tool "none\u001b" ${why}`,
    'A tool of the MCP server made is left out: it has no name.',
    'A tool of the MCP server made is left out: it has no name.',
  ]);
});

test('reads all pages of a list', async () => {
  const { answer, cursors } = pages((cursor) => {
    const at = Number(cursor ?? 0);
    return [[{ name: `act${at}`, inputSchema: schema }], at < 3 ? String(at + 1) : undefined];
  });
  const { names, leftOut } = await offered(answer);
  expect(names).toEqual([0, 1, 2, 3].map((at) => `mcp__made__act${at}`));
  expect([leftOut, cursors]).toEqual([[], [null, '1', '2', '3']]);
});

test('reads a page once that leads to itself', async () => {
  const { answer, cursors } = pages(() => [[{ name: 'act', inputSchema: schema }], 'same']);
  const { names, leftOut } = await offered(answer);
  expect([names, leftOut]).toEqual([['mcp__made__act'], []]);
  expect(cursors).toEqual([null, 'same']);
});

test('gives up a list without end', async () => {
  const empty = pages((cursor) => [[], String(Number(cursor ?? 0) + 1)]);
  expect((await offered(empty.answer)).leftOut).toEqual([
    'The MCP server made cannot be used: its list of tools has more than 64 pages.',
  ]);
  expect(empty.cursors).toHaveLength(64);
  const full = pages((cursor) => {
    const at = Number(cursor ?? 0);
    return [[{ name: `act${at}`, inputSchema: schema }], String(at + 1)];
  });
  expect((await offered(full.answer, 3)).leftOut).toEqual([
    'The MCP server made cannot be used: it has more than 3 tools.',
  ]);
  expect(full.cursors).toHaveLength(4);
});

test('prints nothing that a server of the new revision says of its tools', async () => {
  const forbidden = { properties: { a: { type: 'object', 'x-mcp-header': 'A' } } };
  const allowed = { properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
  const { server, requests } = await web(
    modern([
      { name: 'act', inputSchema: { ...schema, ...allowed } },
      { name: '\u001B]0;owned\u0007', inputSchema: { ...schema, ...forbidden } },
    ]),
  );
  const printed = [
    vi.spyOn(process.stdout, 'write').mockReturnValue(true),
    vi.spyOn(process.stderr, 'write').mockReturnValue(true),
    vi.spyOn(console, 'warn').mockReturnValue(),
  ];
  onTestFinished(() => printed.forEach((each) => each.mockRestore()));
  const made = client(server);
  const { leftOut } = await made.offer(never);
  expect(leftOut).toEqual([
    String.raw`The tool "\u001b]0;owned\u0007" of the MCP server made is left out: it asks for an argument in a header in a way that the protocol forbids.`,
  ]);
  expect(await call(made, 'act', { region: 'eu' })).toMatchObject({ data: 'done' });
  expect(requests.at(-1)?.headers).toMatchObject({ 'mcp-param-region': 'eu' });
  expect(printed.flatMap(({ mock }) => mock.calls)).toEqual([]);
});

test('asks nothing of headers where there are none', async () => {
  const header = { type: 'object', properties: { a: { 'x-mcp-header': 'A' } } };
  const tools = [{ name: 'act', inputSchema: header }];
  expect((await offered(pages(() => [tools, null]).answer)).names).toEqual(['mcp__made__act']);
  const overPipes = await client(program({ MODERN: JSON.stringify(tools) })).inspect('made', never);
  expect(overPipes).toMatchObject({ revision: '2026-07-28', tools: [{}], leftOut: [] });
});
