import { describe, expect, test } from 'vitest';

import { createEventStreamDecoder } from '../stream/event-stream.ts';
import { DONE, STOP, content, errorOf, merged, receive, sse, textOf } from '../testing/streams.ts';

const WHOLE = [
  { type: 'text-delta', text: 'a' },
  { type: 'finish', reason: 'stop' },
];

describe('an event stream', () => {
  test.for([
    ['CRLF line ends', sse(content('a'), STOP, DONE).replaceAll('\n', '\r\n')],
    ['CR line ends', sse(content('a'), STOP, DONE).replaceAll('\n', '\r')],
    ['a byte order mark', `\uFEFF${sse(content('a'), STOP, DONE)}`],
    ['comments', `${': ping\n\n'.repeat(17)}${sse(content('a'))}: ping\n${sse(STOP, DONE)}`],
    ['no blank after the colon', sse(content('a'), STOP, DONE).replaceAll('data: ', 'data:')],
    ['no final newline', sse(content('a'), STOP, DONE).trimEnd()],
    ['unknown fields', `retry: 10\nid: 1\nfoo: bar\n${sse(content('a'), STOP, DONE)}`],
    ['empty data', `data:\n\ndata: \n\n${sse(content('a'), STOP, DONE)}`],
    ['blank lines first', `\n\n\r\n${sse(content('a'), STOP, DONE)}`],
    ['padded JSON', `data: ${JSON.stringify(content('a'))}      \n\n${sse(STOP, DONE)}`],
  ] as const)('with %s', async ([, body]) => {
    expect(merged(await receive(body))).toEqual(WHOLE);
  });

  test('data over several lines', async () => {
    const lines = JSON.stringify(content('a'), null, 2).replaceAll('\n', '\ndata: ');
    expect(merged(await receive(`data: ${lines}\n\n${sse(STOP, DONE)}`))).toEqual(WHOLE);
  });

  test('data that is not JSON is an error, and the text is kept', async () => {
    const events = await receive(
      `${sse(content('a'))}data: {"choices": oops}\n\n${sse(STOP, DONE)}`,
    );
    expect(textOf(events)).toBe('a');
    expect(errorOf(events)).toMatchObject({ code: 'STREAM_INVALID', retryable: false });
  });

  test('data that is not an object is an error', async () => {
    expect(errorOf(await receive(sse('[1]'))).code).toBe('STREAM_INVALID');
    expect(errorOf(await receive(sse('null'))).code).toBe('STREAM_INVALID');
  });

  test('fields of unexpected types are ignored', async () => {
    const odd = {
      choices: [null, 7, { index: 0, delta: { content: 7, tool_calls: [null, {}] } }],
      usage: 'x',
    };
    const events = await receive(sse({ choices: 'x' }, content('a'), odd, STOP, DONE));
    expect(textOf(events)).toBe('a');
  });
});

describe('another body', () => {
  const completion = {
    id: 'x',
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'a',
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        finish_reason: 'tool_calls',
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 2 },
  };

  test.for(['application/json', 'text/event-stream', 'text/plain'])(
    'one JSON document as %s',
    async (type) => {
      const pieces = [
        JSON.stringify(completion, null, 2).slice(0, 40),
        JSON.stringify(completion, null, 2).slice(40),
      ];
      const events = await receive({ pieces, headers: { 'content-type': type } });
      expect(events.map((event) => event.type)).toEqual([
        'text-delta',
        'tool-call-start',
        'tool-call-delta',
        'tool-call-end',
        'usage',
        'finish',
      ]);
    },
  );

  test('an error as one JSON document', async () => {
    const events = await receive(
      JSON.stringify({ error: { message: 'no', type: 'invalid_request_error' } }),
    );
    expect(errorOf(events).code).toBe('PROVIDER_REQUEST');
  });

  test('a JSON document that is something else, or cut off', async () => {
    expect(errorOf(await receive('{"hello":1}')).code).toBe('STREAM_INVALID');
    expect(errorOf(await receive(JSON.stringify(completion).slice(0, -9))).code).toBe(
      'STREAM_TRUNCATED',
    );
  });

  test('an event stream that calls itself JSON', async () => {
    const body = sse(content('a'), STOP, DONE);
    const events = await receive({
      pieces: [body],
      headers: { 'content-type': 'application/json' },
    });
    expect(merged(events)).toEqual(WHOLE);
  });

  test('a web page', async () => {
    const events = await receive({
      pieces: ['<!doctype html><p>Hi'],
      headers: { 'content-type': 'text/html' },
    });
    expect(errorOf(events)).toMatchObject({
      code: 'STREAM_INVALID',
      message: expect.stringContaining('base URL'),
    });
  });
});

test('nothing is held without bound', () => {
  for (const start of ['data: ', '{"a":"']) {
    const limits: number[] = [];
    const decoder = createEventStreamDecoder(
      {
        onEvent: () => undefined,
        onText: () => undefined,
        onDocument: () => undefined,
        readText: () => undefined,
        textKeys: [],
        onTooLarge: (limit) => limits.push(limit),
      },
      1000,
    );
    decoder.feed(Buffer.from(start));
    for (let count = 0; count < 30; count += 1) decoder.feed(Buffer.from('x'.repeat(100)));
    decoder.end();
    expect(limits).toEqual([1000]);
  }
});
