import type { LlmEvent } from '@orion/contracts';
import { describe, expect, test } from 'vitest';

import {
  RESPONSE_START,
  MESSAGE_START,
  namedEvents,
  textBlock,
  textDelta,
} from './testing/named-events.ts';
import { FORMATS, createAdapterOf } from './testing/providers.ts';
import type { FormatName } from './testing/providers.ts';
import { createEventStreamDecoder } from './stream/event-stream.ts';
import type { Answer } from './scripted/byte-server.ts';
import {
  ONCE,
  QUESTION,
  collect,
  content,
  serve,
  sse,
  textOf,
  toolCall,
} from './testing/streams.ts';

/** Hazard: an answer that is larger or deeper than anything of use. It ends as a broken stream, and what came is kept. */

const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
const MEBIBYTE = 'x'.repeat(1024 * 1024);

async function ask(format: FormatName, answer: Answer): Promise<readonly LlmEvent[]> {
  const server = await serve(answer);
  const adapter = createAdapterOf(format, { baseUrl: server.url, retry: ONCE });
  return await collect(adapter.sendMessagesStreaming(QUESTION, {}));
}

/** An answer of which a text has come. */
function begun(format: FormatName, text: string): string {
  switch (format) {
    case 'openai-chat':
      return sse(content(text));
    case 'openai-responses':
      return namedEvents(RESPONSE_START, textDelta(text));
    case 'anthropic-messages':
      return namedEvents(MESSAGE_START, ...textBlock(0, text));
  }
}

function brokenOff(name: string, why: string): LlmEvent {
  return {
    type: 'error',
    error: {
      code: 'STREAM_INVALID',
      message: `The stream is not ${name}: ${why}`,
      retryable: false,
      hint: expect.any(String) as string,
    },
  };
}

const NAMES: Readonly<Record<FormatName, string>> = {
  'openai-chat': 'chat completions',
  'openai-responses': 'the Responses format',
  'anthropic-messages': 'the Messages format',
};

const TOO_DEEP = 'JSON is nested deeper than 512 levels';

/** Where each format writes a value of the wire down again. */
const PAYLOADS: Readonly<Record<FormatName, readonly string[]>> = {
  'openai-chat': [
    `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":{"a":${DEEP}}}}]}}]}`,
    `{"error":{"detail":${DEEP}}}`,
    DEEP,
  ],
  'openai-responses': [
    `{"type":"response.output_text.delta","sequence_number":1,"delta":${DEEP}}`,
    `{"type":"error","message":${DEEP}}`,
  ],
  'anthropic-messages': [
    `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"f","input":{"a":${DEEP}}}}`,
    `{"type":"error","error":{"message":${DEEP}}}`,
  ],
};

describe.for(FORMATS)('JSON that is 100,000 levels deep (%s)', (format) => {
  test.for(PAYLOADS[format].map((payload) => [payload.slice(0, 60), payload] as const))(
    'in an event: %s',
    async ([, payload]) => {
      const body = `${begun(format, 'what came')}data: ${payload}\n\n`;
      expect(await ask(format, { pieces: [body] })).toEqual([
        { type: 'text-delta', text: 'what came' },
        ...(format === 'anthropic-messages' ? [expect.objectContaining({ type: 'usage' })] : []),
        brokenOff(NAMES[format], TOO_DEEP),
      ]);
    },
  );

  test('in a document', async () => {
    const events = await ask(format, { pieces: [`{"choices":${DEEP},"output":[],"content":[]}`] });
    expect(events).toEqual([brokenOff(NAMES[format], TOO_DEEP)]);
  });

  test('in the answer of an error', async () => {
    const body = `{"error":{"type":"invalid_request_error","detail":${DEEP}}}`;
    const events = await ask(format, { status: 400, pieces: [body] });
    expect(events).toMatchObject([
      {
        type: 'error',
        error: {
          code: 'PROVIDER_REQUEST',
          message: expect.stringContaining('nested deeper than 512'),
        },
      },
    ]);
  });

  test(
    'data lines without a blank line: 16 MiB are held, and no more is read',
    { timeout: 20_000 },
    async () => {
      const server = await serve({
        pieces: [
          Buffer.from(begun(format, 'what came')),
          ...Array.from({ length: 18 }, () => Buffer.from(`data: ${MEBIBYTE}\n`)),
        ],
        end: 'open',
      });
      const adapter = createAdapterOf(format, { baseUrl: server.url, retry: ONCE });
      const events = await collect(adapter.sendMessagesStreaming(QUESTION, {}));
      expect(textOf(events)).toBe('what came');
      expect(events.at(-1)).toEqual(
        brokenOff(NAMES[format], 'an event is larger than 16777216 bytes'),
      );
    },
  );
});

/** A limit that a test need not send megabytes for. */
const SMALL = 1000;

/** After how many bytes an event is too large whose lines are these; null for never. */
function tooLargeAfter(line: string, pieceBytes: number): number | null {
  let wasTooLarge = false;
  const decoder = createEventStreamDecoder(
    {
      onEvent: () => undefined,
      onText: () => undefined,
      onDocument: () => undefined,
      onTooLarge: () => (wasTooLarge = true),
      readText: () => undefined,
      textKeys: [],
    },
    SMALL,
  );
  const bytes = Buffer.from(line.repeat(Math.ceil((3 * SMALL) / line.length)));
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    decoder.feed(bytes.subarray(at, at + pieceBytes));
    if (wasTooLarge) return at + pieceBytes;
  }
  return null;
}

describe('an event without an end is measured as it comes (issue 12, 6)', () => {
  test.for(['data\n', 'data:\n', 'data: x\n', `data: ${'x'.repeat(100)}\n`, 'x'])(
    'in lines of %j',
    (line) => {
      for (const pieceBytes of [1, line.length, 64])
        expect(tooLargeAfter(line, pieceBytes)).toBeLessThanOrEqual(
          SMALL + Math.max(line.length, pieceBytes),
        );
    },
  );

  test('comments are none of it: they keep a connection open', () => {
    expect(tooLargeAfter(': x\n', 4)).toBeNull();
  });
});

describe('calls of one message', () => {
  test('have 16 MiB of arguments together', { timeout: 20_000 }, async () => {
    const events = await ask('openai-chat', {
      pieces: Array.from({ length: 18 }, (_, index) =>
        Buffer.from(
          sse(toolCall({ index: index % 2, id: `c${index % 2}`, name: 'f', arguments: MEBIBYTE })),
        ),
      ),
    });
    const characters = events.reduce(
      (sum, event) => sum + (event.type === 'tool-call-delta' ? event.argumentsDelta.length : 0),
      0,
    );
    expect(characters).toBe(16 * 1024 * 1024);
    expect(events.at(-1)).toEqual(
      brokenOff('in order', 'the arguments of tool calls are longer than 16777216 characters'),
    );
  });

  test('are 1,024 at most', async () => {
    const calls = (count: number): string =>
      sse(
        ...Array.from({ length: count }, (_, index) =>
          toolCall({ index, id: `c${index}`, name: 'f', arguments: '{}' }),
        ),
        '[DONE]',
      );
    const ends = (events: readonly LlmEvent[]): number =>
      events.filter(({ type }) => type === 'tool-call-end').length;
    const most = await ask('openai-chat', { pieces: [calls(1024)] });
    expect([ends(most), most.at(-1)]).toEqual([1024, { type: 'finish', reason: 'tool_calls' }]);
    const more = await ask('openai-chat', { pieces: [calls(1025)] });
    expect([ends(more), more.at(-1)]).toEqual([
      1023,
      brokenOff('in order', 'a message has more than 1024 tool calls'),
    ]);
  });
});
