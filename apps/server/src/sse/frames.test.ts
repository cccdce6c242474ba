// Whatever a model writes, it is one event with the same text at the client (B14).
import type { RunEvent } from '@orion/contracts';
import { createParser } from 'eventsource-parser';
import type { EventSourceMessage } from 'eventsource-parser';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { eventFrame } from './frames.ts';

const HOSTILE = [
  '\r',
  '\n',
  '\r\n',
  '\n\n',
  '\n\nevent: done\ndata: {}\n\n',
  'data: ',
  ':',
  '\u0000',
  '\u0085',
  '\u000b',
  '\u000c',
  '\u001c',
  '\u2028',
  '\u2029',
  '\ufeff',
  '\ud800',
  '\udc00',
  '😀',
  'é',
  '\\',
  '"',
  '</script>',
];

const hostileText = fc
  .array(fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: 'binary' })), { maxLength: 12 })
  .map((parts) => parts.join(''));

const eventOf = (content: string, type = 'chunk'): RunEvent =>
  ({ seq: 7, requestId: 't', type, content, source: 'model' }) as unknown as RunEvent;

function parse(frame: string, cuts: readonly number[] = []): readonly EventSourceMessage[] {
  const messages: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => messages.push(message) });
  const ends = [...cuts.map((cut) => cut % (frame.length + 1)), frame.length];
  let from = 0;
  for (const end of ends.toSorted((one, other) => one - other)) {
    parser.feed(frame.slice(from, end));
    from = end;
  }
  return messages;
}

describe('a frame', () => {
  it('is one event with the same text, however it is cut on its way', () => {
    fc.assert(
      fc.property(hostileText, fc.array(fc.nat(), { maxLength: 4 }), (content, cuts) => {
        const messages = parse(eventFrame(eventOf(content), 3), cuts);
        expect(messages).toHaveLength(1);
        expect(messages[0]).toMatchObject({ id: '7.3', event: 'chunk' });
        expect((JSON.parse(messages[0]?.data ?? '') as { content: string }).content).toBe(content);
      }),
      { numRuns: 500 },
    );
  });

  it('has three lines also for a program that knows more kinds of line breaks than there are', () => {
    fc.assert(
      fc.property(hostileText, (content) => {
        const frame = eventFrame(eventOf(content), 3);
        // Those of Python's splitlines.
        const others = [
          '\r',
          '\v',
          '\f',
          '\u001c',
          '\u001d',
          '\u001e',
          '\u0085',
          '\u2028',
          '\u2029',
        ];
        expect(others.filter((each) => frame.includes(each))).toEqual([]);
        expect(frame.split('\n')).toHaveLength(5);
        // UTF-8 can say all of it: a lone surrogate is escaped.
        expect(Buffer.from(frame).toString()).toBe(frame);
      }),
      { numRuns: 500 },
    );
  });

  it('has no line break in its type, whatever the log holds', () => {
    const frame = eventFrame(eventOf('x', 'chunk\r\ndata: {}\n\nevent: done'), 3);
    expect(parse(frame).map(({ event }) => event)).toEqual(['chunkdata: {}event: done']);
  });
});
