import { describe, expect, test } from 'vitest';

import {
  DONE,
  STOP,
  USAGE,
  chunk,
  content,
  errorOf,
  receive,
  serve,
  ask,
  sse,
  textOf,
  toolCall,
} from '../testing/streams.ts';

const finish = (reason: string) => ({ type: 'finish', reason });

describe('the message has ended', () => {
  test.for([
    ['finish reason, usage and [DONE]', sse(content('a'), STOP, USAGE, DONE)],
    ['[DONE] without a finish reason', sse(content('a'), DONE)],
    ['usage and [DONE] without a finish reason', sse(content('a'), USAGE, DONE)],
    ['a finish reason and an orderly end', sse(content('a'), STOP)],
    ['the finish reason twice', sse(content('a'), STOP, STOP, DONE)],
    ['usage before the finish reason', sse(USAGE, content('a'), STOP, DONE)],
    ['a finish reason together with the last text', sse(chunk({ content: 'a' }, 'stop'), DONE)],
    [
      'empty choices first and last',
      sse({ choices: [] }, content('a'), STOP, { choices: [] }, DONE),
    ],
    ['[DONE] padded with blanks', `${sse(content('a'), STOP)}data:   [DONE]   \n\n`],
    ['text after [DONE]', sse(content('a'), STOP, DONE, content('b'))],
  ] as const)('%s', async ([, body]) => {
    const events = await receive(body);
    expect(textOf(events)).toBe('a');
    expect(events.at(-1)).toEqual(finish('stop'));
    expect(events.filter(({ type }) => type === 'finish')).toHaveLength(1);
  });

  test('usage comes before the end, once', async () => {
    const events = await receive(sse(USAGE, content('a'), STOP, USAGE, DONE));
    expect(events.slice(-2)).toEqual([
      {
        type: 'usage',
        usage: { inputTokens: 11, outputTokens: 7, cachedTokens: 5, reasoningTokens: 3 },
      },
      finish('stop'),
    ]);
  });

  test.for([
    [0.0125, { cost: 0.0125 }],
    [0, { cost: 0 }],
    [-1, {}],
    ['1', {}],
  ] as const)('a cost of %j is reported as %j', async ([cost, reported]) => {
    const usage = { prompt_tokens: 1, completion_tokens: 2, cost };
    const events = await receive(sse(content('a'), STOP, { choices: [], usage }, DONE));
    const counts = { inputTokens: 1, outputTokens: 2, cachedTokens: 0, reasoningTokens: 0 };
    expect(events.at(-2)).toEqual({ type: 'usage', usage: { ...counts, ...reported } });
  });

  test('only choice 0 counts', async () => {
    const second = { choices: [{ index: 1, delta: { content: 'b' }, finish_reason: 'length' }] };
    const events = await receive(sse(content('a'), second, STOP, second, DONE));
    expect(textOf(events)).toBe('a');
    expect(events.at(-1)).toEqual(finish('stop'));
  });

  test.for([
    ['length', 'length'],
    ['max_tokens', 'length'],
    ['content_filter', 'refusal'],
    ['content_filter: PROHIBITED_CONTENT', 'refusal'],
    ['PROHIBITED_CONTENT', 'refusal'],
    ['RECITATION', 'refusal'],
    ['function_call', 'stop'],
    ['eos', 'stop'],
    ['a-reason-of-the-future', 'length'],
    ['constructor', 'length'],
  ] as const)('the reason %s means %s', async ([wire, reason]) => {
    expect((await receive(sse(content('a'), chunk({}, wire), DONE))).at(-1)).toEqual(
      finish(reason),
    );
  });

  test('a server that leaves the connection open after [DONE] is not waited for', async () => {
    const server = await serve({ pieces: [sse(content('a'), STOP, DONE)], end: 'open' });
    expect((await ask(server)).at(-1)).toEqual(finish('stop'));
  });
});

describe('the message was cut off', () => {
  test('an orderly end without an end mark is an error, and the text is kept', async () => {
    const events = await receive(sse(content('a'), content('b')));
    expect(textOf(events)).toBe('ab');
    expect(errorOf(events).code).toBe('STREAM_TRUNCATED');
  });

  test('so is an empty body', async () => {
    expect(errorOf(await receive({ pieces: [] })).code).toBe('STREAM_TRUNCATED');
  });

  test('so is an end in the middle of an event, also after a finish reason', async () => {
    const events = await receive(sse(content('a'), STOP) + 'data: {"choices":[{"ind');
    expect(errorOf(events).code).toBe('STREAM_TRUNCATED');
  });

  test('open calls of a message without end are not handed out', async () => {
    const events = await receive(sse(toolCall({ index: 0, id: 'a', name: 'x', arguments: '{}' })));
    expect(events.map(({ type }) => type)).toEqual(['tool-call-start', 'tool-call-delta', 'error']);
  });

  test.for(['reset', 'close'] as const)(
    'a %s is a broken stream, also after a finish reason',
    async (end) => {
      for (const body of [
        sse(content('a')),
        sse(content('a'), STOP),
        sse(content('a'), STOP, USAGE),
      ]) {
        const events = await receive({ pieces: [body], end });
        expect(textOf(events)).toBe('a');
        expect(errorOf(events)).toMatchObject({ code: 'STREAM_BROKEN', retryable: true });
      }
    },
  );

  test('a reset after [DONE] does not matter', async () => {
    const events = await receive({ pieces: [sse(content('a'), STOP, DONE)], end: 'reset' });
    expect(events.at(-1)).toEqual(finish('stop'));
  });
});
