import type { LlmEvent, SendOptions } from '@orion/contracts';
import { describe, expect, test } from 'vitest';

import {
  MESSAGE_START,
  MESSAGE_STOP,
  RESPONSE_START,
  argumentsDelta,
  callBlock,
  functionCall,
  namedEvents,
  textBlock,
  textDelta,
} from './testing/named-events.ts';
import { FORMATS, createAdapterOf } from './testing/providers.ts';
import type { FormatName } from './testing/providers.ts';
import {
  DONE,
  ONCE,
  QUESTION,
  callsOf,
  chunk,
  collect,
  content,
  serve,
  sse,
  toolCall,
} from './testing/streams.ts';

/**
 * Hazard: a server that calls a message whole although its limit cut it. vLLM streams `tool_calls` for it and completes
 * the arguments of the call; Responses of llama.cpp, Ollama and vLLM end with `response.completed`.
 */

const LIMIT = 64;

type Used = { readonly output: number; readonly reasoning?: number };
type Answer = (used: Used, said: 'text' | 'call', given?: string) => string;

const ANSWERS: Readonly<Record<FormatName, Answer>> = {
  'openai-chat': ({ output, reasoning = 0 }, said, given) =>
    sse(
      ...(said === 'text'
        ? [content('half')]
        : [
            toolCall({ index: 0, id: 'a', name: 'write', arguments: '{"text":"one"}' }),
            toolCall({ index: 1, id: 'b', name: 'write', arguments: '{"text":"tw' }),
            toolCall({ index: 1, arguments: '"}' }),
          ]),
      chunk({}, given ?? (said === 'text' ? 'stop' : 'tool_calls')),
      {
        choices: [],
        usage: {
          prompt_tokens: 5,
          completion_tokens: output,
          completion_tokens_details: { reasoning_tokens: reasoning },
        },
      },
      DONE,
    ),
  'openai-responses': ({ output, reasoning = 0 }, said) =>
    namedEvents(
      RESPONSE_START,
      ...(said === 'text'
        ? [textDelta('half')]
        : [
            functionCall(0, 'a', 'write'),
            argumentsDelta(0, '{"text":"one"}'),
            functionCall(1, 'b', 'write'),
            argumentsDelta(1, '{"text":"tw"}'),
          ]),
      {
        type: 'response.completed',
        response: {
          status: 'completed',
          usage: {
            input_tokens: 5,
            output_tokens: output,
            output_tokens_details: { reasoning_tokens: reasoning },
          },
        },
      },
    ),
  'anthropic-messages': ({ output, reasoning = 0 }, said, given) =>
    namedEvents(
      MESSAGE_START,
      ...(said === 'text'
        ? textBlock(0, 'half')
        : [
            ...callBlock(0, 'a', 'write', '{"text":"one"}'),
            ...callBlock(1, 'b', 'write', '{"text":"tw"}'),
          ]),
      {
        type: 'message_delta',
        delta: { stop_reason: given ?? (said === 'text' ? 'end_turn' : 'tool_use') },
        usage: {
          output_tokens: output,
          output_tokens_details: { thinking_tokens: reasoning },
        },
      },
      MESSAGE_STOP,
    ),
};

const REFUSED = {
  status: 400,
  pieces: [JSON.stringify({ error: { message: 'max_tokens is too large', param: 'max_tokens' } })],
};

async function received(
  format: FormatName,
  answers: Parameters<typeof serve>[0],
  send: SendOptions = { max_tokens: LIMIT },
): Promise<LlmEvent[]> {
  const server = await serve(answers);
  const adapter = createAdapterOf(format, { baseUrl: server.url, retry: ONCE });
  return await collect(adapter.sendMessagesStreaming(QUESTION, send));
}

const reasonOf = (events: readonly LlmEvent[]): string | undefined => {
  const last = events.at(-1);
  return last?.type === 'finish' ? last.reason : undefined;
};

describe.for(FORMATS)('%s', (format) => {
  const answer = ANSWERS[format];

  test.for([
    ['reaches the limit', { output: LIMIT }, 'length'],
    ['reaches the limit together with its reasoning', { output: LIMIT, reasoning: 30 }, 'length'],
    ['is one token shorter', { output: LIMIT - 1 }, 'stop'],
    ['reaches the limit with what is not reasoning', { output: 94, reasoning: 30 }, 'length'],
    ['goes beyond the limit, to which its server does not keep', { output: 94 }, 'stop'],
    ['goes beyond it only with its reasoning', { output: 94, reasoning: 40 }, 'stop'],
  ] as const)('a message that %s', async ([, used, reason]) => {
    expect(reasonOf(await received(format, { pieces: [answer(used, 'text')] }))).toBe(reason);
  });

  test('the last call at the limit is cut, whatever its arguments look like', async () => {
    const events = await received(format, { pieces: [answer({ output: LIMIT }, 'call')] });
    expect(callsOf(events)).toMatchObject([{ state: 'complete' }, { state: 'cut' }]);
    expect(reasonOf(events)).toBe('length');
    const shorter = await received(format, { pieces: [answer({ output: LIMIT - 1 }, 'call')] });
    expect(callsOf(shorter)).toMatchObject([{ state: 'complete' }, { state: 'complete' }]);
    expect(reasonOf(shorter)).toBe('tool_calls');
  });
});

test('a server that says that the limit cut a message has completed no arguments', async () => {
  for (const [format, given] of [
    ['openai-chat', 'length'],
    ['anthropic-messages', 'max_tokens'],
  ] as const) {
    const body = ANSWERS[format]({ output: LIMIT }, 'call', given);
    const events = await received(format, { pieces: [body] });
    expect(callsOf(events)).toMatchObject([{ state: 'complete' }, { state: 'complete' }]);
    expect(reasonOf(events)).toBe('length');
  }
});

test('a limit that was not sent proves nothing', async () => {
  const whole = { pieces: [ANSWERS['openai-chat']({ output: LIMIT }, 'text')] };
  expect(reasonOf(await received('openai-chat', [REFUSED, whole]))).toBe('stop');
});

test.for([
  ['incomplete', { type: 'finish', reason: 'length' }],
  ['failed', { type: 'error' }],
  ['cancelled', { type: 'error' }],
  ['completed', { type: 'finish', reason: 'stop' }],
] as const)('a completed event of a response that is %s', async ([status, last]) => {
  const end = { type: 'response.completed', response: { status, error: { message: 'x' } } };
  const body = namedEvents(RESPONSE_START, textDelta('half'), end);
  expect((await received('openai-responses', { pieces: [body] })).at(-1)).toMatchObject(last);
});
