import fc from 'fast-check';
import { expect, test } from 'vitest';

import { createEventStreamDecoder } from './event-stream.ts';

type Payload = { readonly t?: unknown; readonly other?: unknown };

/** `byEnvelope` false: each event is parsed by itself. */
function readEvents(
  pieces: readonly Uint8Array[],
  byEnvelope: boolean,
): { seen: string[]; parsed: number } {
  const seen: string[] = [];
  let text = '';
  let parsed = 0;
  const read = (data: string): string | undefined => {
    try {
      const { t, other } = JSON.parse(data) as Payload;
      return typeof t === 'string' && other === undefined ? t : undefined;
    } catch {
      return undefined;
    }
  };
  const decoder = createEventStreamDecoder({
    textKeys: ['t'],
    readText: read,
    onText: (more) => {
      text += more;
    },
    onEvent: (data) => {
      parsed += 1;
      const plain = read(data);
      if (plain === undefined) {
        seen.push(text, `[${data}]`);
        text = '';
      } else {
        text += plain;
      }
      return byEnvelope ? plain : undefined;
    },
    onDocument: () => undefined,
    onTooLarge: () => undefined,
  });
  for (const piece of pieces) decoder.feed(piece);
  decoder.end();
  return { seen: [...seen, text].filter((item) => item !== ''), parsed };
}

/** Bodies of strings that may be cut in the middle of an escape or of a character, or end early, or not at all. */
const body = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text).slice(1, -1)),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      '\\',
      '\\\\',
      '\\n',
      '\\u',
      '\\ud83c',
      '\\udf89',
      '\\u12',
      '34',
      '"',
      '\\"',
      '","other":1,"x":"',
      '","t":"again',
      '"}',
      'é',
      '🎉',
      '\\\\u0041',
      '\n',
      '',
    ),
  },
);
const event = fc.oneof(
  {
    weight: 12,
    arbitrary: body.map((text) => Buffer.from(`data: {"id":"x","t":"${text}","e":"}"}\n\n`)),
  },
  { weight: 1, arbitrary: body.map((text) => Buffer.from(`data: {"id":"y","t":"${text}"}\n\n`)) },
  { weight: 1, arbitrary: fc.constant(Buffer.from('data: {"t":"u","other":1}\n\n')) },
  { weight: 1, arbitrary: fc.constant(Buffer.from(': ping\n\n')) },
  // A character that is cut in two, which no provider should send.
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      Buffer.from('data: {"id":"x","t":"\xe2\x82","e":"}"}\n\n', 'latin1'),
      Buffer.from('data: {"id":"x","t":"\xac","e":"}"}\n\n', 'latin1'),
    ),
  },
);

test('events read by their envelope mean what each of them means by itself', () => {
  fc.assert(
    fc.property(
      fc.array(event, { minLength: 1, maxLength: 60 }),
      fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 8 }),
      (events, sizes) => {
        const stream = Buffer.concat([
          Buffer.from('data: {"id":"x","t":"start","e":"}"}\n\n'),
          ...events,
        ]);
        const pieces: Uint8Array[] = [];
        for (let start = 0, turn = 0; start < stream.length; turn += 1) {
          const end = start + (sizes[turn % sizes.length] ?? 1);
          pieces.push(stream.subarray(start, end));
          start = end;
        }
        const expected = readEvents([stream], false).seen;
        expect(readEvents([stream], true).seen).toEqual(expected);
        expect(readEvents(pieces, true).seen).toEqual(expected);
      },
    ),
    { numRuns: 1500 },
  );
});

test('only the first of many events of one shape is parsed by itself', () => {
  const events = Array.from(
    { length: 1000 },
    (_, index) => `data: {"id":"x","t":"line ${index}\\n"}\n\n`,
  );
  const { seen, parsed } = readEvents([Buffer.from(events.join(''))], true);
  expect(seen).toEqual([Array.from({ length: 1000 }, (_, index) => `line ${index}\n`).join('')]);
  expect(parsed).toBe(1);
});
