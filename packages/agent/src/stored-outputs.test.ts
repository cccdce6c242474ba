import type { JsonObject, JsonValue, Tool } from '@orion/contracts';
import { collect } from '@orion/testkit';
import { expect, test } from 'vitest';

import type { OrionOptions } from './orion.ts';
import { PROTOCOLS, runTurn, say, step } from './testing/scripted-turn.ts';
import type { Sent } from './testing/scripted-turn.ts';

/** Scenario A9: a large result is stored, and the model asks it without naming it. */

/** A result whose JSON has so many characters. */
function resultOf(characters: number): JsonObject {
  const empty = { items: [{ id: 7 }], pad: '' };
  return { ...empty, pad: 'x'.repeat(characters - JSON.stringify(empty).length) };
}

function fetchTool(result: JsonValue, got: JsonObject[]): Tool {
  return {
    definition: {
      name: 'web.fetch',
      description: 'Fetches.',
      parameters: { type: 'object', properties: { u: { type: 'number' } } },
    },
    effect: 'read',
    async execute(args) {
      got.push(args);
      return { result };
    },
  };
}

/** The JSON of the latest tool output in a request. */
function lastOutput(request: Sent | undefined): JsonObject {
  const content = request?.messages.findLast(({ content: text }) => /^\{|^LAST TOOL/u.test(text));
  const json = content?.content.split('\n').find((line) => line.startsWith('{')) ?? '';
  return JSON.parse(json) as JsonObject;
}

test.for(PROTOCOLS)(
  'A9: %s stores a result of 4,097 characters, and extracts from it without its id',
  async (protocol) => {
    const got: JsonObject[] = [];
    const result = resultOf(4_097);
    const { events, requests, orion } = await runTurn(
      protocol,
      [
        step(protocol, 'web.fetch', { u: 1 }),
        step(protocol, 'tool_outputs.extract', {
          paths: ['$.items[0].id', '$.none'],
          default_value: 'N/A',
        }),
        say(protocol, 'It is 7.'),
      ],
      [fetchTool(result, got)],
    );
    expect(got).toEqual([{ u: 1 }]);
    const text = JSON.stringify(result);
    const shown = lastOutput(requests[1]);
    expect(shown).toMatchObject({
      persisted: true,
      size_chars: 4_097,
      preview: text.slice(0, 1_200),
      preview_truncated: true,
      metadata: { root_type: 'object', key_count: 2, array_lengths: { items: 1 } },
    });
    expect(shown['available_tools']).toHaveLength(6);
    expect(JSON.stringify(requests[1])).not.toContain('x'.repeat(1_300));
    expect(lastOutput(requests[2])).toEqual({
      extracted: { '$.items[0].id': [7], '$.none': 'N/A' },
      missing_paths: ['$.none'],
    });
    expect(events.at(-1)).toMatchObject({ type: 'done', status: 'complete' });
    expect(events.filter((event) => event.type === 'tool_result')).toMatchObject([
      { toolName: 'web.fetch', ok: true, summary: 'web.fetch: 4097 characters, stored' },
      { toolName: 'tool_outputs.extract', ok: true },
    ]);

    const { outputs } = await orion.store.toolOutputs.list({});
    const refs = events.flatMap((event) => (event.type === 'tool_result' ? [event.outputRef] : []));
    expect(refs).toEqual([outputs[0]?.id, undefined]);
    const { conversationId, requestId, projectId } = events[0] ?? {};
    expect(outputs).toMatchObject([
      {
        tool_name: 'web.fetch',
        conversation_id: conversationId,
        message_id: requestId,
        project_id: projectId,
        characters: 4_097,
      },
    ]);
    expect(shown['output_ref']).toEqual({ id: outputs[0]?.id, storage: 'app_data' });
    // From an output to the trace of its turn, and back.
    const traced = await orion.traces.getTrace(outputs[0]?.message_id ?? '');
    expect(traced.filter(({ type }) => type === 'tool_result')).toMatchObject([
      { toolName: 'web.fetch', details: { details: { output_id: outputs[0]?.id } } },
      { toolName: 'tool_outputs.extract', details: { details: {} } },
    ]);
  },
);

test.for(PROTOCOLS)('A9: %s keeps a result of 4,096 characters inline', async (protocol) => {
  const result = resultOf(4_096);
  const { requests, orion } = await runTurn(
    protocol,
    [step(protocol, 'web.fetch', { u: 1 }), say(protocol, 'ok')],
    [fetchTool(result, [])],
  );
  expect(lastOutput(requests[1])).toEqual(result);
  expect((await orion.store.toolOutputs.list({})).total).toBe(0);
});

test.for(PROTOCOLS)(
  'A9: %s asks the output of an earlier turn, and the same question again is a duplicate',
  async (protocol) => {
    const question = step(protocol, 'tool_outputs.count', {
      queries: [{ path: '$.items' }],
    });
    const { events, requests, orion } = await runTurn(
      protocol,
      [
        step(protocol, 'web.fetch', { u: 1 }),
        say(protocol, 'Fetched.'),
        question,
        question,
        say(protocol, 'One.'),
      ],
      [fetchTool(resultOf(5_000), [])],
    );
    expect(requests).toHaveLength(2);
    const conversationId = events[0]?.conversationId ?? '';
    const later = await collect(orion.runTurn({ content: 'How many?', protocol, conversationId }));
    expect(later.filter((event) => event.type === 'tool_result')).toMatchObject([
      { toolName: 'tool_outputs.count', ok: true },
      { toolName: 'tool_outputs.count', ok: false },
    ]);
    expect(JSON.stringify(later)).toContain('DUPLICATE_BLOCKED');
    expect(later.at(-1)).toMatchObject({ type: 'done', fullContent: 'One.' });
  },
);

test('a file of 64 KiB is read whole; as JSON it may be twice as long, and is stored then', async () => {
  const plain = 'A line of text with "quotes".\n'.repeat(3_000).slice(0, 64 * 1024);
  const read = async (text: string): Promise<JsonObject> => {
    const { requests } = await runTurn(
      'standard',
      [step('standard', 'read_file', { path: 'a.txt' }), say('standard', 'ok')],
      [],
      { files: { 'a.txt': text } },
    );
    return lastOutput(requests[1]);
  };
  expect(await read(plain.slice(0, 1_999 * 30))).toMatchObject({
    truncated: false,
    content: plain.slice(0, 1_999 * 30),
  });
  expect(await read('x'.repeat(64 * 1024))).toMatchObject({ content: 'x'.repeat(64 * 1024) });
  expect(await read('"'.repeat(64 * 1024))).toMatchObject({
    persisted: true,
    metadata: { top_level_keys: expect.arrayContaining(['path', 'content']) as string[] },
  });
});

test('settings change when a result is stored', async () => {
  const stored = async (settings: OrionOptions['settings'], tool: Tool): Promise<boolean> => {
    const { orion } = await runTurn(
      'standard',
      [step('standard', 'web.fetch', { u: 1 }), say('standard', 'ok')],
      [tool],
      { settings },
    );
    return (await orion.store.toolOutputs.list({})).total === 1;
  };
  const auto = fetchTool(resultOf(60), []);
  const inline: Tool = { ...auto, resultMode: 'inline' };
  expect(await stored({ outputAutoCharacters: 59 }, auto)).toBe(true);
  expect(await stored({ outputAutoCharacters: 60 }, auto)).toBe(false);
  expect(await stored({ outputInlineCharacters: 59 }, auto)).toBe(false);
  expect(await stored({ outputInlineCharacters: 59 }, inline)).toBe(true);
});
