import type { LlmEvent } from '@orion/contracts';
import { describe, expect, test, vi } from 'vitest';

import {
  MESSAGE_START,
  MESSAGE_STOP,
  RESPONSE_START,
  argumentsDelta,
  callBlock,
  functionCall,
  messageEnd,
  namedEvents,
  responseEnd,
  textBlock,
} from './testing/named-events.ts';
import type { NamedEvent } from './testing/named-events.ts';
import { createAdapterOf } from './testing/providers.ts';
import type { FormatName } from './testing/providers.ts';
import {
  DONE,
  ONCE,
  QUESTION,
  USAGE,
  callsOf,
  chunk,
  collect,
  errorOf,
  receive,
  serve,
  sse,
  textOf,
  toolCall,
} from './testing/streams.ts';

/**
 * The events of an endless message up to its first whole call and an abort. Without such a call the
 * message is aborted when everything that was sent has come.
 */
async function leaveAtFirstCall(format: FormatName, body: string): Promise<LlmEvent[]> {
  const server = await serve({ pieces: [body], end: 'open' });
  const adapter = createAdapterOf(format, { baseUrl: server.url, retry: ONCE });
  const controller = new AbortController();
  const events: LlmEvent[] = [];
  setTimeout(() => controller.abort(), 200);
  for await (const event of adapter.sendMessagesStreaming(QUESTION, {
    signal: controller.signal,
  })) {
    events.push(event);
    if (event.type === 'tool-call-end') controller.abort();
  }
  expect(errorOf(events).code).toBe('ABORTED');
  await vi.waitFor(() => expect(server.connections()).toBe(0));
  return events;
}

async function messages(...events: readonly NamedEvent[]): Promise<LlmEvent[]> {
  return await from('anthropic-messages', namedEvents(MESSAGE_START, ...events));
}

async function responses(...events: readonly NamedEvent[]): Promise<LlmEvent[]> {
  return await from('openai-responses', namedEvents(RESPONSE_START, ...events));
}

async function from(format: FormatName, body: string): Promise<LlmEvent[]> {
  const server = await serve(body);
  const adapter = createAdapterOf(format, { baseUrl: server.url, retry: ONCE });
  return await collect(adapter.sendMessagesStreaming(QUESTION, {}));
}

const stop = (index: number) => ({ type: 'content_block_stop', index });
const itemDone = (index: number, item: object) => ({
  type: 'response.output_item.done',
  output_index: index,
  item: { type: 'function_call', name: 'one', call_id: `c${index}`, ...item },
});
const order = (events: readonly LlmEvent[]): string =>
  events
    .flatMap((event) =>
      event.type === 'tool-call-start' || event.type === 'tool-call-end'
        ? [`${event.type.slice('tool-call-'.length)} ${event.index}`]
        : [],
    )
    .join(', ');

describe('chat completions', () => {
  const one = toolCall({ index: 0, id: 'a', name: 'one', arguments: '{"x":1}' });
  const two = toolCall({ index: 1, id: 'b', name: 'two', arguments: '{"y":2}' });
  const end = chunk({}, 'tool_calls');

  test('a call whose arguments are whole ends when the next one begins', async () => {
    expect(order(await receive(sse(one, two, end, DONE)))).toBe('start 0, end 0, start 1, end 1');
  });

  test('its own end does not end it: an error may still follow a finish reason', async () => {
    const events = await leaveAtFirstCall('openai-chat', sse(one, end));
    expect(callsOf(events)).toEqual([]);
  });

  test('an incomplete call continues: fragments may interleave', async () => {
    for (const beginning of ['', '{"x"']) {
      const events = await receive(
        sse(
          toolCall({ index: 0, id: 'a', name: 'one', arguments: beginning }),
          two,
          toolCall({ index: 0, arguments: '{"x":1}'.slice(beginning.length) }),
          toolCall({ index: 2, id: 'c', name: 'three', arguments: '{}' }),
          end,
          DONE,
        ),
      );
      // In the order in which they began.
      expect(order(events)).toBe('start 0, start 1, start 2, end 0, end 1, end 2');
      expect(callsOf(events)).toMatchObject([
        { arguments: '{"x":1}', state: 'complete' },
        { arguments: '{"y":2}', state: 'complete' },
        { arguments: '{}', state: 'complete' },
      ]);
    }
  });

  test('white space and a repetition after the end of a call add nothing to it', async () => {
    for (const more of [' \n', '', '{"x":1}']) {
      const late = toolCall({ index: 0, id: 'a', name: 'one', arguments: more });
      expect(callsOf(await receive(sse(one, two, late, end, DONE)))).toMatchObject([
        { id: 'a', arguments: '{"x":1}', state: 'complete' },
        { id: 'b', arguments: '{"y":2}', state: 'complete' },
      ]);
    }
  });

  test('more text after the end of a call is an error of the stream', async () => {
    const late = toolCall({ index: 0, arguments: ',"z":3}' });
    const events = await receive(sse(one, two, late, end, DONE));
    expect(errorOf(events).code).toBe('STREAM_INVALID');
  });

  test('an abort finds nothing to break off once the message is over', async () => {
    // The body ends a little after its end mark.
    const server = await serve({ pieces: [sse(one, two, end, USAGE, DONE)], pauseMs: 10 });
    const adapter = createAdapterOf('openai-chat', { baseUrl: server.url, retry: ONCE });
    for (let round = 0; round < 2; round += 1) {
      const controller = new AbortController();
      const types: string[] = [];
      for await (const event of adapter.sendMessagesStreaming(QUESTION, {
        signal: controller.signal,
      })) {
        types.push(event.type);
        if (event.type === 'tool-call-end') controller.abort();
      }
      expect(types.slice(-2)).toEqual(['usage', 'finish']);
      // What is left of the body is read, and the connection serves the next request.
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(server.accepted()).toBe(1);
  });
});

describe('Messages', () => {
  const one = [...callBlock(0, 'a', 'one', '{"x":', '1}'), stop(0)];

  test('the end of its block alone does not end a call: a message that is cut has it too', async () => {
    expect(
      callsOf(await leaveAtFirstCall('anthropic-messages', namedEvents(MESSAGE_START, ...one))),
    ).toEqual([]);
    const cut = await messages(
      ...callBlock(0, 'a', 'one'),
      stop(0),
      messageEnd('max_tokens'),
      MESSAGE_STOP,
    );
    expect(callsOf(cut)).toMatchObject([{ arguments: '', state: 'cut' }]);
  });

  test('a call ends when the next block begins, whatever it is, and its tokens are reported', async () => {
    for (const next of [textBlock(1, 'And'), callBlock(1, 'b', 'two')]) {
      const events = await leaveAtFirstCall(
        'anthropic-messages',
        namedEvents(MESSAGE_START, ...one, ...next),
      );
      expect(callsOf(events)).toMatchObject([{ arguments: '{"x":1}', state: 'complete' }]);
      // Of the beginning of the message, as far as the provider had counted by then.
      expect(events.at(-2)).toMatchObject({ type: 'usage', usage: { inputTokens: 12 } });
    }
  });

  test('a block that is over before the next one is a whole call, also without arguments or a broken one', async () => {
    const events = await messages(
      ...callBlock(0, 'a', 'one'),
      stop(0),
      ...callBlock(1, 'b', 'two', '[1]'),
      stop(1),
      ...textBlock(2, 'And.'),
      stop(2),
      messageEnd('tool_use'),
      MESSAGE_STOP,
    );
    expect(order(events)).toBe('start 0, end 0, start 1, end 1');
    expect(callsOf(events)).toMatchObject([
      { arguments: '{}', state: 'complete' },
      { arguments: '[1]', state: 'malformed' },
    ]);
    expect(events.findIndex(({ type }) => type === 'text-delta')).toBeGreaterThan(
      events.findLastIndex(({ type }) => type === 'tool-call-end'),
    );
    expect(textOf(events)).toBe('And.');
  });

  test('arguments at the beginning of a block are those of the call', async () => {
    const events = await messages(
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 'a', name: 'one', input: { x: 1 } },
      },
      stop(0),
      ...callBlock(1, 'b', 'two', '{}'),
      stop(1),
      messageEnd('tool_use'),
      MESSAGE_STOP,
    );
    expect(order(events)).toBe('start 0, end 0, start 1, end 1');
    expect(callsOf(events)).toMatchObject([{ arguments: '{"x":1}' }, { arguments: '{}' }]);
  });
});

describe('Responses', () => {
  test('a call ends when the next item begins, whatever it is', async () => {
    for (const next of [
      functionCall(1, 'b', 'two'),
      { type: 'response.output_item.added', output_index: 1, item: { type: 'message' } },
    ]) {
      const events = await leaveAtFirstCall(
        'openai-responses',
        namedEvents(
          RESPONSE_START,
          functionCall(0, 'c0', 'one'),
          itemDone(0, { arguments: '{"x":1}', status: 'completed' }),
          next,
        ),
      );
      expect(callsOf(events)).toMatchObject([{ arguments: '{"x":1}', state: 'complete' }]);
    }
  });

  test('an item that is done without arguments has none, unless it is incomplete', async () => {
    for (const [status, end, expected] of [
      ['completed', 'completed', { arguments: '{}', state: 'complete' }],
      ['incomplete', 'incomplete', { arguments: '', state: 'cut' }],
    ] as const) {
      const events = await responses(
        functionCall(0, 'c0', 'one'),
        itemDone(0, { arguments: '', status }),
        functionCall(1, 'c1', 'two'),
        argumentsDelta(1, '{}'),
        responseEnd(end),
      );
      expect(callsOf(events)[0]).toMatchObject(expected);
      expect(order(events)).toBe(
        status === 'completed'
          ? 'start 0, end 0, start 1, end 1'
          : 'start 0, start 1, end 0, end 1',
      );
    }
  });

  test('so does one that takes any text, once its item is done', async () => {
    const item = { type: 'custom_tool_call', name: 'patch', call_id: 'c0' };
    const begin = { type: 'response.output_item.added', output_index: 0, item };
    for (const [done, expected] of [
      [[itemDone(0, { ...item, input: 'any text' })], 'start 0, end 0, start 1, end 1'],
      [
        [{ type: 'response.custom_tool_call_input.delta', output_index: 0, delta: 'any text' }],
        'start 0, start 1, end 0, end 1',
      ],
    ] as const) {
      const events = await responses(
        begin,
        ...done,
        functionCall(1, 'c1', 'two'),
        responseEnd('completed'),
      );
      expect(order(events)).toBe(expected);
      expect(callsOf(events)[0]).toMatchObject({
        arguments: 'any text',
        state: 'complete',
        kind: 'custom',
      });
    }
  });
});

test('an open call is looked at once, however many parts begin after it', async () => {
  const began = performance.now();
  const text = `{"text":"${'x'.repeat(2_000_000)}`;
  const events = await messages(
    ...callBlock(0, 'a', 'one', text),
    ...Array.from({ length: 5000 }, (_, index) => textBlock(index + 1, 'x')).flat(),
    messageEnd('tool_use'),
    MESSAGE_STOP,
  );
  expect(callsOf(events)).toMatchObject([{ state: 'cut' }]);
  expect(performance.now() - began).toBeLessThan(10_000);
});
