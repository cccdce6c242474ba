import { expect, test } from 'vitest';

import { DONE, STOP, chunk, content, receive, sse, toolCall } from '../testing/streams.ts';

test('text that arrives together is one delta, and equal pieces all count', async () => {
  const lines = Array.from({ length: 200 }, () => content('\n'));
  const events = await receive(sse(...lines, STOP, DONE));
  expect(events).toEqual([
    { type: 'text-delta', text: '\n'.repeat(200) },
    { type: 'finish', reason: 'stop' },
  ]);
});

test('text that arrives later is not waited for', async () => {
  const events = await receive({
    pieces: [sse(content('a'), content('b')), sse(content('c')), sse(STOP, DONE)],
    pauseMs: 30,
  });
  expect(events).toEqual([
    { type: 'text-delta', text: 'ab' },
    { type: 'text-delta', text: 'c' },
    { type: 'finish', reason: 'stop' },
  ]);
});

test('no other event overtakes text', async () => {
  const events = await receive(
    sse(
      content('a'),
      chunk({ reasoning: 'r' }),
      content('b'),
      toolCall({ index: 0, id: 'c', name: 'f', arguments: '{}' }),
      content('d'),
      STOP,
      DONE,
    ),
  );
  expect(events.map((event) => ('text' in event ? event.text : event.type))).toEqual([
    'a',
    'r',
    'b',
    'tool-call-start',
    'tool-call-delta',
    'd',
    'tool-call-end',
    'finish',
  ]);
});

test('a delta does not end between the halves of a character', async () => {
  const events = await receive({
    pieces: [sse(content('a\ud83c')), sse(content('\udf89b\ud83c')), sse(STOP, DONE)],
    pauseMs: 30,
  });
  expect(events).toEqual([
    { type: 'text-delta', text: 'a' },
    { type: 'text-delta', text: '🎉b' },
    // A half without another half is the provider's mistake, and is kept.
    { type: 'text-delta', text: '\ud83c' },
    { type: 'finish', reason: 'stop' },
  ]);
});
