import type { LlmEvent, SendOptions } from '@orion/contracts';
import { describe, expect, test } from 'vitest';

import {
  MESSAGE_START,
  MESSAGE_STOP,
  RESPONSE_START,
  messageEnd,
  namedEvents,
  responseEnd,
  textBlock,
  textDelta,
} from './testing/named-events.ts';
import { FORMATS, createAdapterOf } from './testing/providers.ts';
import type { FormatName } from './testing/providers.ts';
import {
  DONE,
  ONCE,
  QUESTION,
  STOP,
  chunk,
  collect,
  content,
  merged,
  serve,
  sse,
} from './testing/streams.ts';

/** One answer of each wire format whose text comes in these pieces. */
function answer(format: FormatName, pieces: readonly string[]): string {
  switch (format) {
    case 'openai-chat':
      return sse(...pieces.map(content), STOP, DONE);
    case 'openai-responses':
      return namedEvents(RESPONSE_START, ...pieces.map(textDelta), responseEnd('completed'));
    case 'anthropic-messages':
      return namedEvents(
        MESSAGE_START,
        ...textBlock(0, ...pieces),
        messageEnd('end_turn'),
        MESSAGE_STOP,
      );
  }
}

async function deltasOf(
  format: FormatName,
  body: string,
  options: SendOptions,
): Promise<readonly LlmEvent[]> {
  const server = await serve(body);
  const adapter = createAdapterOf(format, { baseUrl: server.url, retry: ONCE });
  const events = await collect(adapter.sendMessagesStreaming(QUESTION, options));
  return merged(events).filter(
    ({ type }) => type === 'text-delta' || type === 'reasoning-delta' || type === 'error',
  );
}

const text = (value: string): LlmEvent => ({ type: 'text-delta', text: value });
const reasoning = (value: string): LlmEvent => ({ type: 'reasoning-delta', text: value });

const CLOSED = ['<think>\ninner\n</think>\n\nrest\n', 'DONE'];
const SPLIT = ['\n <th', 'ink>a', '</thi', 'nk>', '\n'];
const UNCLOSED = ['<think>', 'all of it\n', 'DONE'];

describe.for(FORMATS)('R275: text that is wanted whole (%s)', (format) => {
  test.for([CLOSED, SPLIT, UNCLOSED])('%j', async (pieces) => {
    const deltas = await deltasOf(format, answer(format, pieces), { verbatim: true });
    expect(deltas).toEqual([text(pieces.join(''))]);
  });

  test('elsewhere think tags are read', async () => {
    expect(await deltasOf(format, answer(format, CLOSED), {})).toEqual([
      reasoning('\ninner\n'),
      text('rest\nDONE'),
    ]);
  });

  test('says whether its models write their thinking into the text', () => {
    const adapter = createAdapterOf(format, { baseUrl: 'http://127.0.0.1:9' });
    expect(adapter.writesThinkTags).toBe(format === 'openai-chat');
  });
});

test('R275: reasoning in a field of its own stays apart from text that is wanted whole', async () => {
  const body = sse(
    chunk({ reasoning_content: 'why' }),
    content('<think>'),
    content('a</think>b'),
    STOP,
    DONE,
  );
  expect(await deltasOf('openai-chat', body, { verbatim: true })).toEqual([
    reasoning('why'),
    text('<think>a</think>b'),
  ]);
});
