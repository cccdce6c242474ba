import fc from 'fast-check';
import { expect, it } from 'vitest';

import { findOffsets, findPlaces } from './find-literal.ts';
import { inChunks } from './testing/memory-files.ts';

/** Hazard: a place that is missed, or told wrongly, because it lies across the border of two chunks (F1). */

/** Short texts of few letters, in which a needle overlaps itself and lines end everywhere. */
const texts = fc.array(fc.constantFrom('a', 'a', 'b', '\n', 'é'), { maxLength: 24 });
const needles = fc
  .oneof(
    fc.array(fc.constantFrom('a', 'a', 'b', '\n'), { minLength: 1, maxLength: 4 }),
    fc.constantFrom(['a'], ['a', 'a'], ['\n'], ['a', '\n']),
  )
  .map((letters) => Buffer.from(letters.join('')));
const searches = fc.record({
  bytes: texts.map((letters) => Buffer.from(letters.join(''))),
  needle: needles,
  chunk: fc.integer({ min: 1, max: 9 }),
});

/** The same of bytes that are there as a whole, one beginning after the other. */
function placesIn(bytes: Buffer, needle: Buffer, firstLineStart: number) {
  const starts = Array.from(bytes.keys()).filter((start) =>
    bytes.subarray(start).subarray(0, needle.length).equals(needle),
  );
  const places = starts.slice(0, 5).map((start) => {
    const end = start + needle.length;
    const feedBefore = bytes.subarray(0, start).lastIndexOf('\n');
    const feed = bytes.indexOf('\n', end - 1);
    return {
      start,
      end,
      lineStart: feedBefore === -1 ? firstLineStart : feedBefore + 1,
      lineEnd: feed === -1 ? bytes.length : feed + 1,
      terminated: feed !== -1,
    };
  });
  return { starts, places };
}

it('finds every place, overlapping ones too, with the lines that they touch', async () => {
  await fc.assert(
    fc.asyncProperty(
      searches,
      fc.constantFrom(0, 3),
      async ({ bytes, needle, chunk }, firstLineStart) => {
        const { starts, places } = placesIn(bytes, needle, firstLineStart);
        expect(await findPlaces(() => inChunks(bytes, chunk), needle, firstLineStart)).toEqual({
          count: starts.length,
          places,
        });
      },
    ),
    { numRuns: 2_000 },
  );
});

it('finds offsets without overlap, and no more than it may', async () => {
  await fc.assert(
    fc.asyncProperty(
      searches,
      fc.integer({ min: 1, max: 5 }),
      async ({ bytes, needle, chunk }, limit) => {
        const { starts } = placesIn(bytes, needle, 0);
        const apart: number[] = [];
        for (const start of starts) {
          if (start >= (apart.at(-1) ?? -needle.length) + needle.length) apart.push(start);
        }
        expect(await findOffsets(inChunks(bytes, chunk), needle, limit)).toEqual({
          offsets: apart.slice(0, limit),
          limited: apart.length > limit,
        });
      },
    ),
    { numRuns: 1_000 },
  );
});

it('reads no further than it has to', async () => {
  const read: number[] = [];
  const chunks = async function* (): AsyncGenerator<Uint8Array, void> {
    for (let chunk = 0; chunk < 4; chunk += 1) {
      read.push(chunk);
      yield Buffer.from('ab');
    }
  };
  const found = await findOffsets(chunks(), Buffer.from('a'), 2);
  expect(found).toEqual({ offsets: [0, 2], limited: true });
  expect(read).toEqual([0, 1, 2]);
});
