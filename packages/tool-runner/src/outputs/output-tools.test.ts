import { OrionError, systemClock } from '@orion/contracts';
import type { JsonObject, JsonValue, ToolOutputRecord, ToolResult } from '@orion/contracts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createToolRegistry } from '../registry/tool-registry.ts';
import { CONTEXT } from '../testing/context.ts';
import { createMemoryOutputs } from '../testing/memory-outputs.ts';
import { createLazyTraverser } from './lazy-traverser.ts';
import { askOutputs, createOutputTools } from './output-tools.ts';

const store = createMemoryOutputs();
const traverser = createLazyTraverser(systemClock);
/** What the store was asked for. */
const asked: unknown[] = [];
/** Of one record the parameters are no JSON. */
const reader = {
  ...store,
  list(filter: Parameters<typeof store.list>[0]) {
    asked.push(filter.after, filter.before);
    return store.list(filter);
  },
  async read(id: string) {
    const texts = await store.read(id);
    return texts !== null && id === 'misnamed' ? { ...texts, parameters: '{' } : texts;
  },
};
const registry = createToolRegistry(createOutputTools({ store: reader, traverser }), {
  conversation: { id: 'c', messageId: 'm', messages: () => [] },
});

const DOCUMENT = {
  items: [
    { id: 1, type: 'a', open: true },
    { id: 2, type: 'b', open: false },
    { id: 3, type: 'a', open: true },
  ],
  empty: null,
};

async function put(id: string, output: JsonValue, more: object = {}): Promise<void> {
  await store.put({
    id,
    project_id: 'p',
    tool_name: 'web.fetch',
    conversation_id: 'c',
    message_id: 'm',
    created_at: 1_700_000_000_000,
    success: true,
    parameters: { u: 1 },
    output: JSON.stringify(output),
    ...more,
  });
}

beforeAll(async () => {
  await put('doc', DOCUMENT);
  await put('long', { text: 'ä😀'.repeat(10_000) });
  await put('other-project', 1, { project_id: 'q' });
  await put('other-conversation', 1, { conversation_id: 'd' });
  await put('misnamed', 1);
  await put('damaged', 1, { output: '{"cut' });
});
afterAll(() => traverser.close());

async function run(operation: string, args: JsonObject): Promise<ToolResult> {
  const name = `tool_outputs.${operation}`;
  const call = { id: 'x', name, arguments: JSON.stringify(args), state: 'complete' } as const;
  const [result] = await registry.executeToolCalls([call], CONTEXT);
  if (result === undefined) throw new Error('no result');
  return result;
}

async function ask(operation: string, args: JsonObject): Promise<JsonValue> {
  const result = await run(operation, { id: 'doc', ...args });
  if (!result.success) throw new Error(`${result.error.code}: ${result.error.message}`);
  return result.result;
}

test('R213: all six are offered, in PLAN mode, too', () => {
  const names = ['list', 'stats', 'extract', 'count', 'sample', 'read'];
  for (const mode of ['plan', 'act'] as const)
    expect(registry.definitions(mode).map(({ name }) => name)).toEqual(
      names.map((name) => `tool_outputs.${name}`),
    );
});

test('R207: stats', async () => {
  expect(await ask('stats', { max_depth: 2, include_schema: true })).toMatchObject({
    id: 'doc',
    tool_name: 'web.fetch',
    created_at: 1_700_000_000_000,
    size: { bytes: 121, characters: 121, formatted: '121 B' },
    types: { object: 4, array: 1, string: 3, number: 3, boolean: 3, null: 1 },
    arrays: { count: 1, total_items: 3, max_length: 3 },
    objects: { count: 4, total_keys: 11, max_keys: 3 },
    schema: { type: 'object' },
  });
  expect(await ask('stats', { id: 'long' })).toMatchObject({
    size: { bytes: 60_011, characters: 20_011, formatted: '58.6 KiB' },
  });
});

test('R208, R215: extract, all of it when no path is named', async () => {
  expect(
    await ask('extract', { paths: ['$.items[*].id', '$.none'], default_value: 'N/A' }),
  ).toEqual({
    extracted: { '$.items[*].id': [1, 2, 3], '$.none': 'N/A' },
    missing_paths: ['$.none'],
  });
  expect(await ask('extract', {})).toEqual({ extracted: { $: [DOCUMENT] }, missing_paths: [] });
  expect(await ask('extract', { paths: ['$.empty'] })).toEqual({
    extracted: { '$.empty': [null] },
    missing_paths: [],
  });
});

test('R209, R210: count and sample', async () => {
  expect(
    await ask('count', {
      queries: [
        { name: 'all', path: '$.items' },
        { name: 'open', path: '$.items', filter: '@.open == true' },
      ],
    }),
  ).toEqual({ counts: { all: 3, open: 2 }, total: 5 });
  expect(await ask('sample', { path: '$.items', method: 'first', size: 1 })).toMatchObject({
    indices: [0],
    items: [DOCUMENT.items[0]],
    total: 3,
  });
});

test('R211: read, whole or in parts by code points', async () => {
  expect(await ask('read', {})).toEqual({
    id: 'doc',
    tool_name: 'web.fetch',
    conversation_id: 'c',
    message_id: 'm',
    created_at: 1_700_000_000_000,
    success: true,
    parameters: { u: 1 },
    output: DOCUMENT,
  });
  expect(await ask('read', { id: 'long', offset: 10, limit: 3 })).toEqual({
    id: 'long',
    offset: 10,
    total_chars: 20_011,
    text: '😀ä😀',
  });
  expect(await ask('read', { id: 'long', offset: 99_999 })).toMatchObject({ text: '' });
});

test('R206: the store is asked for whole milliseconds', async () => {
  asked.length = 0;
  await run('list', { after: 1_699_999_999_999.5, before: 1_700_000_000_000.5 });
  await run('list', { after: -1e300, before: 1e300 });
  expect(asked).toEqual([
    1_699_999_999_999,
    1_700_000_000_001,
    Number.MIN_SAFE_INTEGER,
    Number.MAX_SAFE_INTEGER,
  ]);
});

test('R206: times in seconds are times, too, and bounds are exclusive', async () => {
  const total = async (filter: JsonObject): Promise<unknown> => {
    const result = await run('list', filter);
    return result.success && (result.result as { total: number }).total;
  };
  expect(await total({})).toBe(4);
  expect(await total({ after: 1_699_999_999 })).toBe(4);
  expect(await total({ after: 1_700_000_000 })).toBe(0);
  expect(await total({ before: 1_700_000_000_000 })).toBe(0);
  expect(await total({ before: 1_700_000_000_001 })).toBe(4);
  const page = await run('list', { limit: 2, preview_length: 0 });
  expect(page).toMatchObject({ result: { total: 4, has_more: true } });
  expect(JSON.stringify(page)).not.toContain('"preview"');
});

describe('R212: an error names tool, operation, reason and what to do', () => {
  const MISSING = 'Leave out the id to use the latest output.';
  const AGAIN = 'Run the tool again.';
  const NAME_IT = 'Name its conversation in conversation_id.';
  const LESS =
    'Ask for less: a deeper path, tool_outputs.sample, or tool_outputs.read with offset and limit.';
  const COUNT =
    'Count its matches instead, or name the path of an array or object; tool_outputs.stats shows the structure.';
  test.for([
    ['read', { id: '../x' }, 'OUTPUT_NOT_FOUND', 'There is no stored output ../x.', MISSING],
    ['stats', { id: 'gone' }, 'OUTPUT_NOT_FOUND', 'There is no stored output gone.', MISSING],
    ['stats', {}, 'OUTPUT_NOT_FOUND', 'There is no stored output yet.', MISSING],
    [
      'extract',
      { id: 'damaged' },
      'OUTPUT_CORRUPT',
      'The output damaged is damaged: SyntaxError: Unterminated string in JSON at position 5 (line 1 column 6).',
      AGAIN,
    ],
    ['read', { id: 'misnamed' }, 'OUTPUT_CORRUPT', 'The output misnamed is damaged.', AGAIN],
    [
      'extract',
      { id: 'doc', paths: ['items'] },
      'OUTPUT_QUERY_INVALID',
      `The path "items" is not a JSONPath: expected '$', found 'i' ('items':0)`,
      'A path begins with $, such as $.items[0].name, $.items[*].id or $..name.',
    ],
    [
      'extract',
      { id: 'long' },
      'OUTPUT_QUERY_LIMIT',
      'The answer has 30052 characters; at most 16384 can be shown.',
      LESS,
    ],
    [
      'read',
      { id: 'long' },
      'OUTPUT_QUERY_LIMIT',
      'The output long has 20011 characters; at most 16384 can be read at once.',
      'Use tool_outputs.extract or tool_outputs.stats, or read a part with offset and limit.',
    ],
    [
      'read',
      { id: 'other-project' },
      'OUTPUT_NOT_ALLOWED',
      'The output other-project belongs to another project.',
      'Choose one that tool_outputs.list shows.',
    ],
    [
      'extract',
      { id: 'other-conversation' },
      'OUTPUT_NOT_ALLOWED',
      'The output other-conversation does not belong to the conversation c.',
      NAME_IT,
    ],
    [
      'count',
      { id: 'doc', queries: [{ path: '$.empty' }] },
      'OUTPUT_QUERY_INVALID',
      'array_length cannot count $.empty: it holds null.',
      COUNT,
    ],
    [
      'sample',
      { id: 'doc' },
      'OUTPUT_QUERY_INVALID',
      'There is nothing to sample at $: it holds an object.',
      'Name the path of an array, or one with several matches such as $.items[*].',
    ],
  ] as const)('%s %j: %s', async ([operation, args, code, message, hint]) => {
    expect(await run(operation, args)).toMatchObject({
      success: false,
      error: { code, message: `tool_outputs.${operation}: ${message}`, hint },
    });
  });

  test.for([
    ['extract', { id: 'doc', surplus: 1 }],
    ['sample', { id: 'doc', size: 0 }],
    ['stats', { id: 'doc', max_depth: 11 }],
    ['count', { id: 'doc' }],
    ['list', { id: 'doc' }],
    ['list', { limit: 101 }],
    ['list', { preview_length: 501 }],
  ] as const)('%s %j is refused', async ([operation, args]) => {
    expect(await run(operation, args)).toMatchObject({
      success: false,
      attempts: 0,
      error: { code: 'INVALID_TOOL_ARGUMENTS' },
    });
  });

  test('another conversation can be named', async () => {
    expect(await ask('read', { id: 'other-conversation', conversation_id: 'd' })).toMatchObject({
      output: 1,
    });
  });
});

test('what a provider is sent about the tools', async () => {
  await expect(`${JSON.stringify(registry.definitions('act'), null, 1)}\n`).toMatchFileSnapshot(
    '__snapshots__/output-tools.txt',
  );
});

test.for([0, 1, 2])('R206: %i damaged records are counted for the trace', async (damaged) => {
  const list = async () => ({ outputs: [], total: 40, damaged });
  const tools = createOutputTools({ store: { ...store, list }, traverser });
  const call = { id: 'x', name: 'tool_outputs.list', arguments: '{}', state: 'complete' } as const;
  expect(await createToolRegistry(tools).executeToolCalls([call], CONTEXT)).toMatchObject([
    {
      result: { outputs: [], total: 40, has_more: true },
      details: damaged === 0 ? {} : { damaged_outputs: damaged },
    },
  ]);
});

test('an output of another project is asked where every project may be', async () => {
  const options = { store, traverser, everyProject: true };
  const ask = (id: string): Promise<string> =>
    askOutputs(options, 'extract', { id }, { projectId: '', signal: CONTEXT.signal });
  expect(JSON.parse(await ask('other-project'))).toMatchObject({ extracted: { $: [1] } });
  expect(JSON.parse(await ask('other-conversation'))).toMatchObject({ extracted: { $: [1] } });
  await expect(
    askOutputs(options, 'sample', { size: 0 }, { projectId: '', signal: CONTEXT.signal }),
  ).rejects.toMatchObject({
    code: 'INVALID_TOOL_ARGUMENTS',
    message: 'The arguments of tool_outputs.sample do not fit: size: 0 is less than 1',
  });
});

test('a document that is asked once is parsed for each question', async () => {
  const ask = async (output: string): Promise<unknown> => {
    const one = { ...store, read: async () => ({ parameters: '{}', output }) };
    const options = { store: one, traverser, everyProject: true, once: true };
    const context = { projectId: '', signal: CONTEXT.signal };
    return JSON.parse(await askOutputs(options, 'extract', { id: 'doc' }, context));
  };
  expect(await ask('1')).toMatchObject({ extracted: { $: [1] } });
  expect(await ask('2')).toMatchObject({ extracted: { $: [2] } });
});

test('an output that goes between two looks is not found', async () => {
  const gone = { ...store, read: () => Promise.resolve(null) };
  const tools = createToolRegistry(createOutputTools({ store: gone, traverser }));
  for (const name of ['extract', 'read']) {
    const call = { id: 'x', name: `tool_outputs.${name}`, arguments: '{"id":"other"}' } as const;
    await store.put({ ...(store.records.get('doc') as ToolOutputRecord), id: 'other' });
    expect(await tools.executeToolCalls([{ ...call, state: 'complete' }], CONTEXT)).toMatchObject([
      { error: { message: `tool_outputs.${name}: There is no stored output other.` } },
    ]);
    store.records.delete('other');
  }
});

test('an output of no project or no conversation belongs to all of them', async () => {
  const known = store.records.get('doc') as ToolOutputRecord;
  await store.put({ ...known, id: 'loose', project_id: '', conversation_id: '' });
  expect(await ask('read', { id: 'loose' })).toMatchObject({ id: 'loose', output: DOCUMENT });
  store.records.delete('loose');
});

test('R206: what a list says of an output', async () => {
  const result = await run('list', { limit: 1, preview_length: 9 });
  expect(result.success && result.result).toMatchObject({
    outputs: [
      {
        id: expect.any(String) as string,
        tool_name: 'web.fetch',
        conversation_id: 'c',
        created_at: 1_700_000_000_000,
        success: true,
        size_bytes: expect.any(Number) as number,
        size_chars: expect.any(Number) as number,
        preview: expect.any(String) as string,
      },
    ],
  });
});

test('a store that is busy is asked again, as other reads are', async () => {
  const busy = new OrionError({ code: 'STORE_UNAVAILABLE', message: 'busy', retryable: true });
  const find = (): Promise<never> => Promise.reject(busy);
  const tools = createToolRegistry(createOutputTools({ store: { ...store, find }, traverser }));
  const call = { id: 'x', name: 'tool_outputs.stats', arguments: '{"id":"doc"}' } as const;
  expect(await tools.executeToolCalls([{ ...call, state: 'complete' }], CONTEXT)).toMatchObject([
    { attempts: 4, error: { code: 'STORE_UNAVAILABLE', retryable: true } },
  ]);
});
