import fc from 'fast-check';
import { expect, it } from 'vitest';

import { beginningOf, partsOf, readImage, splice, textOf, unchangedImage } from './file-image.ts';
import type { FileImage, Splice } from './file-image.ts';
import { inChunks } from './testing/memory-files.ts';

/** Hazard: an image that is read in another way than it is written. */

async function textFrom(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(Uint8Array.from(chunk));
  return Buffer.concat(all).toString();
}

async function written(image: FileImage, base: string): Promise<string> {
  let text = '';
  for (const part of partsOf(image, () => inChunks(Buffer.from(base), 5))) {
    text += part.kind === 'kept' ? base.slice(part.start, part.end) : await textFrom(part.source());
  }
  return text;
}

const edit = fc.tuple(
  fc.nat({ max: 60 }),
  fc.nat({ max: 10 }),
  fc.string({ maxLength: 6, unit: 'grapheme-ascii' }),
);

it('is the text that splicing a string gives, again and again', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ maxLength: 50, unit: 'grapheme-ascii' }),
      fc.array(edit, { maxLength: 8 }),
      async (base, edits) => {
        let text = base;
        let image = unchangedImage(base.length);
        for (const [at, length, insert] of edits) {
          const start = Math.min(at, text.length);
          const end = Math.min(start + length, text.length);
          text = text.slice(0, start) + insert + text.slice(end);
          image = splice(image, [{ start, end, texts: [textOf(Buffer.from(insert))] }]);
        }
        expect(image.bytes).toBe(text.length);
        expect(await textFrom(readImage(image, () => inChunks(Buffer.from(base), 7)))).toBe(text);
        expect(await written(image, base)).toBe(text);
      },
    ),
    { numRuns: 500 },
  );
}, 60_000);

it('writes very many pieces as one stream', async () => {
  const base = 'ab'.repeat(3000);
  const text = textOf(Buffer.from('X'));
  const splices = Array.from({ length: 3000 }, (_, index) => ({
    start: 2 * index,
    end: 2 * index + 1,
    texts: [text],
  }));
  const image = splice(unchangedImage(base.length), splices);
  expect(partsOf(image, () => inChunks(Buffer.from(base), 999))).toHaveLength(1);
  expect(await written(image, base)).toBe('Xb'.repeat(3000));
});

/** Splices of a text in order and without overlap, from gaps, lengths and inserted texts. */
function splicesOf(
  edits: readonly (readonly [gap: number, length: number, texts: readonly string[]])[],
  bytes: number,
): readonly Splice[] {
  let position = 0;
  return edits.map(([gap, length, texts]) => {
    const start = Math.min(position + gap, bytes);
    const end = Math.min(start + length, bytes);
    position = end;
    return { start, end, texts: texts.map((text) => textOf(Buffer.from(text))) };
  });
}

const edits = fc.array(
  fc.tuple(
    fc.nat({ max: 6 }),
    fc.nat({ max: 6 }),
    fc.array(fc.constantFrom('', 'X', 'new'), { maxLength: 2 }),
  ),
  { maxLength: 4 },
);

it('gives the same pieces for many places at once as for one after the other (I2, I3)', () => {
  fc.assert(
    fc.property(fc.nat({ max: 30 }), fc.array(edits, { maxLength: 3 }), (bytes, rounds) => {
      let image = unchangedImage(bytes);
      for (const round of rounds) {
        const splices = splicesOf(round, image.bytes);
        // From the end, so that the places before keep their numbers.
        const expected = splices.toReversed().reduce((made, one) => splice(made, [one]), image);
        image = splice(image, splices);
        expect(image).toEqual(expected);
      }
      const lengths = image.pieces.map(({ start, end }) => end - start);
      expect(lengths.every((length) => length > 0)).toBe(true);
      expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(image.bytes);
      // Kept pieces ascend, and none could be one with the piece before it.
      let last: FileImage['pieces'][number] | null = null;
      let keptTo = -1;
      for (const piece of image.pieces) {
        if (piece.kind === 'kept') {
          expect(piece.start).toBeGreaterThan(last?.kind === 'kept' ? keptTo : keptTo - 1);
          keptTo = piece.end;
        }
        last = piece;
      }
    }),
    { numRuns: 800 },
  );
});

it('is one piece again where what was put in is taken out', () => {
  const text = textOf(Buffer.from('new'));
  const with3 = splice(unchangedImage(10), [{ start: 4, end: 4, texts: [text] }]);
  expect(with3).toEqual({
    bytes: 13,
    pieces: [
      { kind: 'kept', start: 0, end: 4 },
      { kind: 'new', text, start: 0, end: 3 },
      { kind: 'kept', start: 4, end: 10 },
    ],
  });
  expect(splice(with3, [{ start: 4, end: 7, texts: [] }])).toEqual(unchangedImage(10));
  expect(
    splice(with3, [
      { start: 4, end: 6, texts: [] },
      { start: 6, end: 7, texts: [] },
    ]),
  ).toEqual(unchangedImage(10));
});

it.each<readonly [string, readonly (readonly [number, number])[]]>([
  ['begins before the image', [[-1, 2]]],
  ['ends before it begins', [[3, 2]]],
  ['ends behind the image', [[3, 11]]],
  ['begins behind the image', [[11, 11]]],
  [
    'is out of order',
    [
      [4, 6],
      [5, 7],
    ],
  ],
  [
    'begins before the image, with another',
    [
      [-1, 2],
      [3, 4],
    ],
  ],
  [
    'ends before it begins, with another',
    [
      [1, 2],
      [4, 3],
    ],
  ],
  [
    'ends behind the image, with another',
    [
      [1, 2],
      [3, 11],
    ],
  ],
])('refuses a splice that %s', (_name, places) => {
  const splices = places.map(([start, end]) => ({ start, end, texts: [] }));
  expect(() => splice(unchangedImage(10), splices)).toThrow(
    new RangeError('splices are out of order or outside of the image'),
  );
});

it('writes a thousand pieces as they are, and one more as one stream of large chunks', async () => {
  const of = (sizes: readonly number[]): FileImage =>
    splice(unchangedImage(0), [
      { start: 0, end: 0, texts: sizes.map((size) => textOf(Buffer.alloc(size, 0x61))) },
    ]);
  const none = (): AsyncIterable<Uint8Array> => inChunks(Buffer.alloc(0), 1);
  expect(partsOf(of(Array.from({ length: 1000 }, () => 1)), none)).toHaveLength(1000);
  const many = Array.from({ length: 1000 }, () => 100);
  const [part, ...others] = partsOf(of([60_000, 70_000, ...many]), none);
  expect(others).toEqual([]);
  const lengths: number[] = [];
  if (part?.kind === 'new') for await (const { length } of part.source()) lengths.push(length);
  expect(lengths).toEqual([60_000, 70_000, 65_500, 34_500]);
});

it('reads the old file once and to its end, and lets go of it when it is left before', async () => {
  const events: string[] = [];
  const base = async function* (): AsyncGenerator<Uint8Array, void> {
    try {
      for (const text of ['abc', 'def', 'ghi']) {
        events.push(text);
        yield Buffer.from(text);
      }
      events.push('verified');
    } finally {
      events.push('closed');
    }
  };
  const image = splice(unchangedImage(9), [
    { start: 1, end: 5, texts: [textOf(Buffer.from('X'))] },
    { start: 6, end: 9, texts: [] },
  ]);
  expect(await textFrom(readImage(image, base))).toBe('aXf');
  expect(events).toEqual(['abc', 'def', 'ghi', 'verified', 'closed']);

  events.length = 0;
  for await (const chunk of readImage(image, base)) {
    expect(Buffer.from(chunk).toString()).toBe('a');
    break;
  }
  expect(events).toEqual(['abc', 'closed']);

  const short = async (): Promise<string> => textFrom(readImage(unchangedImage(10), base));
  await expect(short()).rejects.toThrow('the file is shorter than its snapshot');
});

it('reads the beginning of a text, and no more of it', async () => {
  let read = 0;
  const text = {
    bytes: 6,
    source: async function* source(): AsyncGenerator<Uint8Array, void> {
      for (const part of ['ab', 'cd', 'ef']) {
        read += 1;
        yield Buffer.from(part);
      }
    },
  };
  for (const [bytes, expected, chunks] of [
    [1, 'a', 1],
    [2, 'ab', 1],
    [3, 'abc', 2],
    [6, 'abcdef', 3],
  ] as const) {
    read = 0;
    const beginning = beginningOf(text, bytes);
    expect(beginning.bytes).toBe(bytes);
    expect(await textFrom(beginning.source())).toBe(expected);
    expect(read).toBe(chunks);
  }
});
