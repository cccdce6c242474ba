import fc from 'fast-check';
import { expect, test } from 'vitest';

import { createOpenAiCompatibleAdapter } from '../openai-compatible/adapter.ts';
import {
  DONE,
  QUESTION,
  callsOf,
  chunk,
  collect,
  serve,
  sse,
  toolCall,
} from '../testing/streams.ts';

const CALLS = [
  {
    id: 'call_1',
    name: 'write',
    arguments: '{"text":"a \\"b\\" \\\\ \\u00e9 🎉","n":[1,2,{"x":null}]}',
  },
  { id: 'call_2', name: 'read', arguments: '{"path":"{\\"not\\":1}"}' },
  { id: 'call_3', name: 'list', arguments: '{}' },
];

/** Pieces of every call's arguments, and the order in which the calls take turns. */
const splits = fc.record({
  cuts: fc.tuple(
    ...CALLS.map((call) =>
      fc.uniqueArray(fc.integer({ min: 0, max: call.arguments.length }), { maxLength: 12 }),
    ),
  ),
  turns: fc.array(fc.integer({ min: 0, max: CALLS.length - 1 }), { maxLength: 40 }),
});

test('calls whose fragments interleave at random stay whole and apart', async () => {
  let body = '';
  const server = await serve(() => ({ pieces: [body] }));
  const adapter = createOpenAiCompatibleAdapter({ model: 'm', baseUrl: server.url });

  await fc.assert(
    fc.asyncProperty(splits, async ({ cuts, turns }) => {
      const queues = CALLS.map((call, index) => {
        const ends = [
          ...(cuts[index] ?? []).toSorted((left, right) => left - right),
          call.arguments.length,
        ];
        return ends.map((end, piece) => call.arguments.slice(ends[piece - 1] ?? 0, end));
      });
      const started = CALLS.map((call, index) =>
        toolCall({ index, id: call.id, name: call.name, arguments: '' }),
      );
      const order = [
        ...turns,
        ...CALLS.flatMap((_, index) => Array.from({ length: 20 }, () => index)),
      ];
      const fragments = order.flatMap((index) => {
        const fragment = queues[index]?.shift();
        return fragment === undefined ? [] : [toolCall({ index, arguments: fragment })];
      });
      body = sse(...started, ...fragments, chunk({}, 'tool_calls'), DONE);
      const events = await collect(adapter.sendMessagesStreaming(QUESTION, {}));
      expect(callsOf(events)).toEqual(CALLS.map((call) => ({ ...call, state: 'complete' })));
    }),
    { numRuns: 60 },
  );
});
