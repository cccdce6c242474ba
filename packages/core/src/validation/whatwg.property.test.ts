import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { findInvalidPlaces } from './invalid-places.ts';
import { repairedText } from './repaired-text.ts';
import { validatedText } from './validated-text.ts';
import {
  CHUNK_SIZES,
  collect,
  decodedByThePlatform,
  hardBytes,
  inChunks,
} from './testing/bytes.ts';

const REPLACE = { found: 0, rounds: [], replace: true };

describe('A17: the WHATWG decoder agrees, at every chunk size', () => {
  it('on what replaces invalid bytes', async () => {
    await fc.assert(
      fc.asyncProperty(hardBytes, async (bytes) => {
        const expected = decodedByThePlatform(bytes);
        for (const size of CHUNK_SIZES) {
          const replaced = await collect(repairedText(inChunks(bytes, size), REPLACE));
          expect(Buffer.from(replaced).toString('hex')).toBe(Buffer.from(expected).toString('hex'));
        }
      }),
      { numRuns: 600 },
    );
  });

  it('on whether bytes are text at all', async () => {
    const strict = new TextDecoder('utf-8', { fatal: true });
    await fc.assert(
      fc.asyncProperty(hardBytes, async (bytes) => {
        let text = !bytes.includes(0);
        try {
          strict.decode(bytes);
        } catch {
          text = false;
        }
        for (const size of CHUNK_SIZES) {
          const { source } = validatedText(inChunks(bytes, size), 'a.txt');
          if (text) expect(await collect(source)).toEqual(Buffer.from(bytes));
          else await expect(collect(source)).rejects.toMatchObject({ code: 'INVALID_CONTENT' });
        }
      }),
      { numRuns: 600 },
    );
  });
});

describe('R093: reports do not depend on how the bytes are divided', () => {
  it('with every place told, and with some of them', { tags: ['long'] }, async () => {
    await fc.assert(
      fc.asyncProperty(hardBytes, fc.integer({ min: 0, max: 5 }), async (bytes, limit) => {
        const whole = await findInvalidPlaces(inChunks(bytes, bytes.length + 1), Infinity);
        expect(whole.count).toBe(whole.places.length);
        for (const size of CHUNK_SIZES) {
          expect(await findInvalidPlaces(inChunks(bytes, size), Infinity)).toEqual(whole);
          const some = await findInvalidPlaces(inChunks(bytes, size), limit);
          expect(some).toEqual({ ...whole, places: whole.places.slice(0, limit) });
        }
      }),
      { numRuns: 600 },
    );
  });

  it('R095: positions are those of the text in which each invalid sequence is one unit', async () => {
    await fc.assert(
      fc.asyncProperty(hardBytes, fc.constantFrom(...CHUNK_SIZES), async (bytes, size) => {
        const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(
          decodedByThePlatform(bytes),
        );
        const { places } = await findInvalidPlaces(inChunks(bytes, size), Infinity);
        for (const place of places) {
          const before = text.slice(0, place.position);
          const line = before.slice(before.lastIndexOf('\n') + 1);
          expect(text[place.position]).toBe('\ufffd');
          expect(place.line).toBe(before.split('\n').length);
          expect(place.column).toBe(line.length + 1);
          expect(decodedByThePlatform(bytes.subarray(0, place.byte_offset)).length).toBe(
            Buffer.byteLength(before),
          );
        }
      }),
      { numRuns: 600 },
    );
  });
});
