import { createFakeClock } from '@orion/testkit';
import { OrionError } from '@orion/contracts';
import type { JsonObject, JsonValue, Message, Tool, ToolCall, ToolResult } from '@orion/contracts';
import { afterAll, beforeEach, expect, test } from 'vitest';

import { createToolRegistry } from '../registry/tool-registry.ts';
import type { ToolRegistryOptions } from '../registry/tool-registry.ts';
import { CONTEXT } from '../testing/context.ts';
import { createMemoryOutputs } from '../testing/memory-outputs.ts';
import { referenceIn } from './hydration.ts';
import { createLazyTraverser } from './lazy-traverser.ts';
import { createOutputTools } from './output-tools.ts';

const traverser = createLazyTraverser(createFakeClock());
afterAll(() => traverser.close());
let store: ReturnType<typeof createMemoryOutputs>;
let history: Message[];
let ids: number;
beforeEach(() => {
  store = createMemoryOutputs();
  history = [];
  ids = 0;
});

function tool(name: string, result: JsonValue, more: Partial<Tool> = {}): Tool {
  return {
    definition: { name, description: name, parameters: { type: 'object' } },
    effect: 'read',
    execute: () => Promise.resolve({ result }),
    ...more,
  };
}

function registryOf(tools: readonly Tool[], more: ToolRegistryOptions = {}) {
  return createToolRegistry([...tools, ...createOutputTools({ store, traverser })], {
    outputs: { store, idOf: () => `output-${(ids += 1)}`, now: () => 1_000 + ids },
    conversation: { id: 'c', messageId: 'm', messages: () => history },
    ...more,
  });
}

const call = (name: string, args: JsonObject = {}): ToolCall => ({
  id: 'call',
  name,
  arguments: JSON.stringify(args),
  state: 'complete',
});

async function run(
  registry: ReturnType<typeof registryOf>,
  name: string,
  args: JsonObject = {},
): Promise<ToolResult> {
  const [result] = await registry.executeToolCalls([call(name, args)], CONTEXT);
  if (result === undefined) throw new Error('no result');
  return result;
}

async function resultOf(
  registry: ReturnType<typeof registryOf>,
  name: string,
  args: JsonObject = {},
): Promise<JsonObject> {
  const result = await run(registry, name, args);
  if (!result.success) throw new Error(`${result.error.code}: ${result.error.message}`);
  return result.result as JsonObject;
}

/** A JSON text of so many characters. */
const ofLength = (characters: number): string => 'x'.repeat(characters - 2);

test.for([
  ['auto', 4_096, false],
  ['auto', 4_097, true],
  [undefined, 4_097, true],
  ['inline', 16_384, false],
  ['inline', 16_385, true],
  ['stored', 3, true],
  ['never', 100_000, false],
] as const)('R202: mode %s, %i characters: stored %s', async ([resultMode, length, isStored]) => {
  const given = tool('t', ofLength(length), resultMode === undefined ? {} : { resultMode });
  const result = await run(registryOf([given]), 't');
  expect(result).toMatchObject({ success: true });
  expect(store.records.size).toBe(isStored ? 1 : 0);
});

test('R202: characters are code points, and the limits can be set', async () => {
  await run(registryOf([tool('t', '😀'.repeat(4_094))]), 't');
  expect(store.records.size).toBe(0);
  await run(registryOf([tool('t', '😀'.repeat(4_095))]), 't');
  expect(store.records.size).toBe(1);
  const outputs = { store, idOf: () => 'small', now: () => 1, autoCharacters: 2 };
  await run(registryOf([tool('t', 'x')], { outputs }), 't');
  expect(store.records.get('small')?.output).toBe('"x"');
});

test('R203, R204, R205: the message in place of a large result, and its record', async () => {
  const result = { items: [{ id: 7 }, 1], other: {}, pad: ofLength(5_000) };
  const text = JSON.stringify(result);
  expect(await resultOf(registryOf([tool('web.fetch', result)]), 'web.fetch', { u: 1 })).toEqual({
    persisted: true,
    output_ref: { id: 'output-1', storage: 'app_data' },
    size_chars: text.length,
    preview: text.slice(0, 1_200),
    preview_truncated: true,
    metadata: {
      root_type: 'object',
      key_count: 3,
      top_level_keys: ['items', 'other', 'pad'],
      array_lengths: { items: 2 },
    },
    available_tools: [
      'tool_outputs.read — load full output into context',
      'tool_outputs.extract — extract fields via JSONPath',
      'tool_outputs.stats — get schema, field types, counts',
      'tool_outputs.list — list all stored outputs',
      'tool_outputs.count — count matching elements',
      'tool_outputs.sample — random sample from arrays',
    ],
  });
  expect(store.records.get('output-1')).toEqual({
    id: 'output-1',
    project_id: 'p',
    tool_name: 'web.fetch',
    conversation_id: 'c',
    message_id: 'm',
    created_at: 1_001,
    success: true,
    parameters: { u: 1 },
    output: text,
  });
});

test('R204: metadata of every kind of result', async () => {
  const metadataOf = async (result: JsonValue): Promise<unknown> => {
    const given = tool('t', result, { resultMode: 'stored' });
    return (await resultOf(registryOf([given]), 't'))['metadata'];
  };
  expect(await metadataOf([1, 2])).toEqual({ root_type: 'array', array_length: 2 });
  expect(await metadataOf(null)).toEqual({ root_type: 'null' });
  expect(await metadataOf('x')).toEqual({ root_type: 'string' });
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, key) => [`k${key}`, [key]]));
  expect(await metadataOf(many)).toMatchObject({ key_count: 30 });
  const { top_level_keys: keys, array_lengths: lengths } = (await metadataOf(many)) as {
    top_level_keys: string[];
    array_lengths: object;
  };
  expect([keys.length, Object.keys(lengths).length]).toEqual([20, 20]);
});

test('what a tool shows of a longer output stays, beside the reference to all of it', async () => {
  const given = tool('t', null, {
    execute: () =>
      Promise.resolve({ result: { start: 'ab' }, stored: { output: ofLength(2_000) } }),
  });
  expect(await resultOf(registryOf([given]), 't')).toMatchObject({
    start: 'ab',
    persisted: true,
    output_ref: { id: 'output-1' },
    size_chars: 2_011,
  });
  const short = tool('t', null, {
    execute: () => Promise.resolve({ result: { output: 'ab' }, stored: { output: 'ab' } }),
  });
  expect(await resultOf(registryOf([short]), 't')).toEqual({ output: 'ab' });
  const whole = { output: ofLength(2_000) };
  const traced = tool('t', null, {
    execute: () => Promise.resolve({ result: { a: 1 }, stored: whole, details: { own: 1 } }),
    summarize: () => 'its own words',
  });
  const registry = registryOf([traced]);
  const shown = await run(registry, 't');
  expect(shown).toMatchObject({ details: { own: 1, output_id: 'output-2' } });
  expect(registry.summarize(shown)).toBe('its own words');
  expect(
    registry.summarize({ ...shown, result: { persisted: false, metadata: {} } } as never),
  ).toBe('its own words');
  expect(registry.summarize({ ...shown, result: 'persisted' } as never)).toBe('its own words');
  // A part of the result is a preview only where it is an object.
  const text = tool('t', null, {
    execute: () => Promise.resolve({ result: 'ab', stored: 'abcdef' }),
  });
  expect(await resultOf(registryOf([text]), 't')).toMatchObject({
    preview: '"abcdef"',
    preview_truncated: false,
    metadata: { root_type: 'string' },
  });
});

test('a result that hands the turn over, and one without a store, stay as they are', async () => {
  const begin = tool('t', null, {
    execute: () => Promise.resolve({ result: ofLength(9_000), next: 'content' }),
  });
  expect(await run(registryOf([begin]), 't')).toMatchObject({ result: ofLength(9_000) });
  const plain = createToolRegistry([tool('t', ofLength(9_000))]);
  expect(await plain.executeToolCalls([call('t')], CONTEXT)).toMatchObject([
    { result: ofLength(9_000) },
  ]);
  expect(store.records.size).toBe(0);
});

test('R205: a result that cannot be stored is a failed result, and the tool does not run again', async () => {
  let runs = 0;
  const given = tool('t', null, {
    execute: () => {
      runs += 1;
      return Promise.resolve({ result: ofLength(5_000) });
    },
  });
  const put = (): Promise<never> =>
    Promise.reject(new OrionError({ code: 'STORE_UNAVAILABLE', message: 'full', retryable: true }));
  const outputs = { store: { put }, idOf: () => 'x', now: () => 1 };
  expect(await run(registryOf([given], { outputs }), 't')).toMatchObject({
    success: false,
    attempts: 1,
    error: {
      code: 'STORE_UNAVAILABLE',
      message: 't ran, but its result of 5000 characters could not be stored: full',
    },
  });
  expect(runs).toBe(1);
});

test('keys in use reach neither record nor preview', async () => {
  const redact = (text: string): string => text.replaceAll('sk-key', '[redacted]');
  const registry = registryOf([tool('t', `sk-key ${ofLength(5_000)}`)], { redact });
  const shown = await resultOf(registry, 't', { key: 'sk-key' });
  expect(JSON.stringify([shown, ...store.records.values()])).not.toContain('sk-key');
});

test('R214: a missing id is the latest output, of this turn or of the history, and part of the signature', async () => {
  const registry = registryOf([tool('t', { a: 1, pad: ofLength(5_000) })]);
  const asked = call('tool_outputs.extract', { paths: ['$.a'] });
  expect(await run(registry, 'tool_outputs.extract', { paths: ['$.a'] })).toMatchObject({
    success: false,
    attempts: 0,
    error: { code: 'OUTPUT_NOT_FOUND', hint: 'Leave out the id to use the latest output.' },
  });
  const before = registry.signatureOf(asked, 'p');
  await run(registry, 't');
  const first = registry.signatureOf(asked, 'p');
  expect(await resultOf(registry, 'tool_outputs.extract', { paths: ['$.a'], id: ' ' })).toEqual({
    extracted: { '$.a': [1] },
    missing_paths: [],
  });
  expect(registry.signatureOf(asked, 'p')).toBe(first);
  await run(registry, 't');
  const second = registry.signatureOf(asked, 'p');
  expect(new Set([before, first, second]).size).toBe(3);
  // A given id is kept; the name that the provider sees does, too.
  const given = { ...asked, name: 'tool_outputs_extract', arguments: '{"id":"output-1"}' };
  expect(registry.signatureOf(given, 'p')).toBe(
    registry.signatureOf(call('tool_outputs.extract', { id: 'output-1', paths: ['$'] }), 'p'),
  );

  const later = registryOf([]);
  const say = (content: string, toolName = 't'): Message => ({
    role: 'tool',
    toolCallId: 'x',
    toolName,
    content,
  });
  const reference = (id: string): object => ({ output_ref: { id, storage: 'app_data' } });
  const paths = { paths: ['$.a'] };
  for (const [content, id] of [
    [JSON.stringify(reference('output-1')), 'output-1'],
    [JSON.stringify({ result: [{ deep: reference('output-2') }] }), 'output-2'],
    [JSON.stringify({ text: JSON.stringify(reference('output-1')) }), 'output-1'],
  ] as const) {
    history = [say('{"output_ref":{"id":"old","storage":"app_data"}}'), say(content), say('{}')];
    history.push(say(JSON.stringify(reference('asked')), 'tool_outputs.list'));
    expect(later.signatureOf(call('tool_outputs.extract', paths), 'p')).toBe(
      later.signatureOf(call('tool_outputs.extract', { ...paths, id }), 'p'),
    );
  }
});

test('R214: only what a tool declares is filled in: a list gets this conversation, and no id', async () => {
  const registry = registryOf([tool('t', ofLength(5_000))]);
  await run(registry, 't');
  await store.put({
    ...(store.records.get('output-1') as never as object),
    id: 'o',
    conversation_id: 'other',
  } as never);
  expect(await resultOf(registry, 'tool_outputs.list')).toMatchObject({
    outputs: [{ id: 'output-1', tool_name: 't', size_chars: 5_000, preview: `"${'x'.repeat(99)}` }],
    total: 1,
    has_more: false,
  });
  expect(await resultOf(registry, 'tool_outputs.list', { conversation_id: 'other' })).toMatchObject(
    { outputs: [{ id: 'o' }] },
  );
});

test('R214: without a conversation the latest output of the turn is still meant', async () => {
  const registry = createToolRegistry(
    [
      tool('t', { a: 1, pad: ofLength(5_000) }),
      tool('small', null, {
        definition: {
          name: 'small',
          description: '',
          parameters: { type: 'object', properties: { id: { type: 'string' } } },
        },
        execute: (args) => Promise.resolve({ result: args }),
      }),
      ...createOutputTools({ store, traverser }),
    ],
    { outputs: { store, idOf: () => 'one', now: () => 1 } },
  );
  expect(await run(registry, 'tool_outputs.stats')).toMatchObject({
    error: { code: 'OUTPUT_NOT_FOUND' },
  });
  expect(registry.summarize(await run(registry, 't'))).toBe('t: 5014 characters, stored');
  // Neither a small result nor a tool of another name has to do with it.
  expect(await resultOf(registry, 'small', { id: ' ' })).toEqual({ id: ' ' });
  expect(await resultOf(registry, 'tool_outputs.extract', { paths: ['$.a'] })).toEqual({
    extracted: { '$.a': [1] },
    missing_paths: [],
  });
  expect(await run(registry, 'tool_outputs.extract', { paths: ['$.a'], id: 7 })).toMatchObject({
    error: { code: 'INVALID_TOOL_ARGUMENTS' },
  });
});

test('R214: a reference is found at a depth of 4, not of 5, and only of this storage', () => {
  const reference = { output_ref: { id: 'x', storage: 'app_data' } };
  const nested = (value: JsonValue, depth: number): JsonValue =>
    depth === 0 ? value : { inner: nested(value, depth - 1) };
  expect(referenceIn(nested(reference, 4))).toBe('x');
  expect(referenceIn(nested(reference, 5))).toBe(null);
  expect(referenceIn([1, null, [reference]])).toBe('x');
  expect(referenceIn(JSON.stringify(JSON.stringify(reference)))).toBe('x');
  for (const other of [
    { output_ref: { id: 'x', storage: 'disk' } },
    { output_ref: { id: 7, storage: 'app_data' } },
    { output_ref: 'x' },
    'output_ref',
    '{"output_ref',
    null,
    7,
  ]) {
    expect(referenceIn(other)).toBe(null);
  }
  const padded = (length: number): string => {
    const text = JSON.stringify({ ...reference, pad: '' });
    return text.replace('"pad":""', `"pad":"${'x'.repeat(length - text.length)}"`);
  };
  expect(referenceIn(padded(256 * 1024))).toBe('x');
  expect(referenceIn(padded(256 * 1024 + 1))).toBe(null);
});
