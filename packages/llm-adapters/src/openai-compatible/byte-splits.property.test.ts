import fc from 'fast-check';
import { expect, test } from 'vitest';

import { createOpenAiCompatibleAdapter } from '../openai-compatible/adapter.ts';
import {
  DONE,
  QUESTION,
  chunk,
  collect,
  content,
  merged,
  serve,
  sse,
  toolCall,
  USAGE,
} from '../testing/streams.ts';

const STREAM = Buffer.from(
  '\uFEFF: keep-alive\r\n\r\n' +
    sse(
      chunk({ role: 'assistant', content: '' }),
      chunk({ reasoning_content: 'Überlegung: ' }),
      chunk({ reasoning_content: '🤔' }),
      content('Zeile "eins"\r\n'),
      content('Zeile "eins"\r\n'),
    ) +
    ': keep-alive\n\n: keep-alive\n\n' +
    // Escapes as they are often cut: a quotation mark, a line end, a pair of surrogates, a lone half.
    'data: {"choices":[{"index":0,"delta":{"content":"\\"\\n\\ud83c\\udf89 \\u00e9"}}]}\r\n\r\n' +
    'data: {"choices":[{"index":0,"delta":{"content":"\\ud83c"}}]}\n\ndata: {"choices":[{"index":0,"delta":{"content":"\\udf89"}}]}\n\n' +
    'event: message\nid: 7\ndata: {"choices":[{"index":0,\ndata: "delta":{"content":"two lines, 漢字 🎉"}}]}\n\n' +
    sse(
      toolCall({ index: 0, id: 'call_a', name: 'read_file', arguments: '' }),
      toolCall({ index: 0, arguments: '{"path":"ä' }),
      toolCall({ index: 1, id: 'call_b', name: 'read_file', arguments: '{"path":' }),
      toolCall({ index: 0, arguments: '.txt"}' }),
      toolCall({ index: 1, arguments: '"b.txt"}' }),
      chunk({}, 'tool_calls'),
      USAGE,
    ) +
    `data: ${DONE}`,
);

test('any split of the bytes gives the same events', async () => {
  let pieces: Uint8Array[] = [STREAM];
  const server = await serve(() => ({ pieces }));
  const adapter = createOpenAiCompatibleAdapter({ model: 'm', baseUrl: server.url });
  const read = async () => merged(await collect(adapter.sendMessagesStreaming(QUESTION, {})));
  const whole = await read();
  expect(whole).toMatchObject([
    { type: 'reasoning-delta', text: 'Überlegung: 🤔' },
    { type: 'text-delta', text: 'Zeile "eins"\r\nZeile "eins"\r\n"\n🎉 é🎉two lines, 漢字 🎉' },
    { type: 'tool-call-start', id: 'call_a' },
    { type: 'tool-call-delta', index: 0 },
    { type: 'tool-call-start', id: 'call_b' },
    { type: 'tool-call-delta', index: 1 },
    { type: 'tool-call-delta', index: 0 },
    { type: 'tool-call-delta', index: 1 },
    { type: 'tool-call-end', call: { arguments: '{"path":"ä.txt"}', state: 'complete' } },
    { type: 'tool-call-end', call: { arguments: '{"path":"b.txt"}', state: 'complete' } },
    { type: 'usage' },
    { type: 'finish', reason: 'tool_calls' },
  ]);

  pieces = [...STREAM].map((byte) => Uint8Array.of(byte));
  expect(await read()).toEqual(whole);

  const cuts = fc.uniqueArray(fc.integer({ min: 1, max: STREAM.length - 1 }), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(cuts, async (positions) => {
      const ends = [...positions.toSorted((left, right) => left - right), STREAM.length];
      pieces = ends.map((end, index) => STREAM.subarray(ends[index - 1] ?? 0, end));
      expect(await read()).toEqual(whole);
    }),
    { numRuns: 60 },
  );
});
