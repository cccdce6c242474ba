import { countWork } from '@orion/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { MessageFormat } from './anthropic/message-format.ts';
import { createCallIds } from './conversation.ts';
import { ChunkFormat } from './openai-compatible/chunk-format.ts';
import { ResponseFormat } from './openai-responses/response-format.ts';
import { createRedactor } from './provider-error.ts';
import { createAnswerDecoder } from './stream/answer-decoder.ts';
import type { MessageEvents } from './stream/message-events.ts';
import type { WireFormat } from './stream/payloads.ts';
import { FORMATS } from './testing/providers.ts';
import type { FormatName } from './testing/providers.ts';

/** Hazard: an answer that costs more than what it brings. Twice the input, at most so often the work. */
const BOUND = 2.3;

const redact = createRedactor(['sk-a-key-of-some-length']);

function formatOf(name: FormatName): (message: MessageEvents) => WireFormat {
  switch (name) {
    case 'openai-chat':
      return (message) => new ChunkFormat(message);
    case 'openai-responses':
      return (message) => new ResponseFormat(message);
    case 'anthropic-messages':
      return (message) => new MessageFormat(message);
  }
}

/** Reads a body that is `units` of the text in pieces of a size, as an adapter does. */
function reading(format: FormatName, body: string, pieceBytes: number): () => void {
  const bytes = Buffer.from(body);
  return () => {
    const decoder = createAnswerDecoder(formatOf(format), redact, {
      verbatim: false,
      adapter: format,
      model: 'm',
    });
    for (let at = 0; at < bytes.length && !decoder.message.ended; at += pieceBytes) {
      decoder.feed(bytes.subarray(at, at + pieceBytes));
      decoder.take();
    }
    if (!decoder.message.ended) decoder.end();
    decoder.take();
  };
}

/** `#` is another number in each unit: indexes, ids and names that never recur. */
function repeated(unit: string, count: number): string {
  const parts = unit.split('#');
  if (parts.length === 1) return unit.repeat(count);
  return Array.from({ length: count }, (_, index) => parts.join(String(index))).join('');
}

const UNITS = 250;

function expectLinear(format: FormatName, unit: string, pieceBytes: number): void {
  const work = (units: number): number =>
    countWork(reading(format, repeated(unit, units), pieceBytes));
  const single = work(UNITS);
  expect(
    work(UNITS * 2) / single,
    `${format}, pieces of ${pieceBytes}: ${unit}`,
  ).toBeLessThanOrEqual(BOUND);
}

const event = (payload: object | string, name?: string): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${typeof payload === 'string' ? payload : JSON.stringify(payload)}\n\n`;

const chat = (delta: object, more: object = {}): string =>
  event({ choices: [{ index: 0, delta, ...more }] });
const chatCall = (call: object): string => chat({ tool_calls: [call] });

const filler = 'x'.repeat(100);

/** Each was made to cost too much, or did. */
const ATTACKS: readonly (readonly [name: string, format: FormatName, unit: string])[] = [
  [
    'calls whose every delta repeats the name',
    'openai-chat',
    chatCall({ index: 0, function: { name: 'write', arguments: filler } }),
  ],
  [
    'the same, within an object that is never whole',
    'openai-chat',
    chatCall({ index: 0, function: { name: 'write', arguments: `{"a":{` } }),
  ],
  [
    'a call with an id of its own each',
    'openai-chat',
    chatCall({ id: 'c#', function: { name: 'f', arguments: '{}' } }),
  ],
  [
    'more of a call that is over',
    'openai-chat',
    chatCall({ index: 0, id: 'c', function: { name: 'f', arguments: ' ' } }),
  ],
  ['white space before the text', 'openai-chat', chat({ content: ' '.repeat(50) })],
  ['a think tag that is never whole', 'openai-chat', chat({ content: '<think></think' })],
  ['reasoning and text by turns', 'openai-chat', chat({ content: 'a' }) + chat({ reasoning: 'b' })],
  ['line breaks behind the reasoning', 'openai-chat', chat({ content: '<think></think>\n\n' })],
  [
    'events that fit no envelope',
    'openai-chat',
    chat({ content: 'a' }) + chat({ content: '\\"' }) + ': c\n\n',
  ],
  [
    'escapes that are cut',
    'openai-chat',
    chat({ content: 'a\\ud83d' }) + event('{"choices":[{"index":0,"delta":{"content":"\\u00"}}]}'),
  ],
  ['comments', 'openai-chat', `: ${filler}\n`],
  ['data without a blank line', 'openai-chat', `data: ${filler}\n`],
  ['empty data lines', 'openai-chat', 'data\n'],
  ['one line without an end', 'openai-chat', filler],
  ['carriage returns', 'openai-chat', 'data: {}\r'],
  [
    'choices that are not the first',
    'openai-chat',
    event({ choices: [{ index: 7, delta: { content: 'x' } }] }),
  ],
  [
    'blocks that begin anew',
    'anthropic-messages',
    event({
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 't#', name: 'f' },
    }),
  ],
  [
    'pieces of calls with an index each',
    'anthropic-messages',
    event({
      type: 'content_block_start',
      index: 7,
      content_block: { type: 'tool_use', id: 't', name: 'f' },
    }) +
      event({
        type: 'content_block_delta',
        index: 7,
        delta: { type: 'input_json_delta', partial_json: '{"a":' },
      }),
  ],
  [
    'events that are numbered',
    'openai-responses',
    `data: {"type":"response.output_text.delta","sequence_number":#,"delta":"${filler}"}\n\n`,
  ],
  [
    'texts at places of their own',
    'openai-responses',
    `data: {"type":"response.output_text.delta","output_index":#,"delta":"x"}\n\n`,
  ],
  [
    'items that are never done',
    'openai-responses',
    `data: {"type":"response.output_item.added","output_index":#,"item":{"type":"function_call","name":"f"}}\n\n`,
  ],
  [
    'arguments that are all repeated',
    'openai-responses',
    event({ type: 'response.function_call_arguments.delta', output_index: 0, delta: filler }),
  ],
];

describe('twice the input costs at most 2.3 times as much', () => {
  test.for(ATTACKS)('%s', ([, format, unit]) => {
    for (const pieceBytes of [97, 16_384]) expectLinear(format, unit, pieceBytes);
  });

  const text = fc.constantFrom(
    '',
    ' ',
    '\n',
    'a',
    '{',
    '}',
    '{"a":1}',
    '"',
    '\\',
    '<think>',
    '</think>',
    'é',
    filler,
  );
  const number = fc.constantFrom(0, 1, 7, '#');
  const fields = (names: readonly string[]): fc.Arbitrary<object> =>
    fc.dictionary(fc.constantFrom(...names), fc.oneof(text, number), { maxKeys: 4 });
  const call = fc.record(
    {
      index: number,
      id: fc.constantFrom('', 'a', 'c#'),
      function: fc.record(
        { name: fc.constantFrom('', 'f', 'g#'), arguments: text },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: [] },
  );
  const payloads: Readonly<Record<FormatName, fc.Arbitrary<object>>> = {
    'openai-chat': fc
      .record(
        {
          content: text,
          reasoning: text,
          refusal: text,
          tool_calls: fc.array(call, { maxLength: 2 }),
        },
        { requiredKeys: [] },
      )
      .map((delta) => ({ choices: [{ index: 0, delta }] })),
    'openai-responses': fc.record(
      {
        type: fc.constantFrom(
          'response.output_text.delta',
          'response.output_text.done',
          'response.refusal.delta',
          'response.reasoning_text.delta',
          'response.reasoning_summary_part.added',
          'response.output_item.added',
          'response.output_item.done',
          'response.function_call_arguments.delta',
          'response.function_call_arguments.done',
        ),
        output_index: number,
        summary_index: number,
        sequence_number: number,
        delta: text,
        text,
        arguments: text,
        item: fc.record({
          type: fc.constantFrom('function_call', 'custom_tool_call', 'message'),
          call_id: fc.constantFrom('', 'c', 'c#'),
          name: fc.constantFrom('', 'f'),
          arguments: text,
        }),
      },
      { requiredKeys: ['type'] },
    ),
    'anthropic-messages': fc.record(
      {
        type: fc.constantFrom(
          'content_block_start',
          'content_block_delta',
          'content_block_stop',
          'message_delta',
          'ping',
        ),
        index: number,
        content_block: fc.record({
          type: fc.constantFrom('text', 'thinking', 'tool_use', 'server_tool_use'),
          id: fc.constantFrom('', 't', 't#'),
          name: fc.constantFrom('', 'f'),
          text,
          input: fields(['a', 'b']),
        }),
        delta: fc.record({
          type: fc.constantFrom('text_delta', 'thinking_delta', 'input_json_delta'),
          text,
          thinking: text,
          partial_json: text,
        }),
        usage: fields(['output_tokens', 'u#', 'input_tokens']),
      },
      { requiredKeys: ['type'] },
    ),
  };
  const separators = fc.constantFrom('\n\n', '\r\n\r\n', '\n', '\n: c\n\n');

  test.for(FORMATS)('whatever %s repeats', (format) => {
    const unit = fc
      .array(fc.tuple(payloads[format], separators), { minLength: 1, maxLength: 4 })
      .map((parts) =>
        parts
          .map(([payload, end]) => `data: ${JSON.stringify(payload).replaceAll('"#"', '#')}${end}`)
          .join(''),
      );
    fc.assert(
      fc.property(unit, fc.constantFrom(31, 1460, 16_384), (repeatedUnit, pieceBytes) =>
        expectLinear(format, repeatedUnit, pieceBytes),
      ),
      { numRuns: 15 },
    );
  });

  test('ids of calls that are all the same', () => {
    const work = (calls: number): number =>
      countWork(() => {
        const ids = createCallIds(40);
        for (let index = 0; index < calls; index += 1)
          ids.ofCall(index % 2 === 0 ? 'call' : 'call_2');
      });
    expect(work(2 * UNITS) / work(UNITS)).toBeLessThanOrEqual(BOUND);
  });
});
