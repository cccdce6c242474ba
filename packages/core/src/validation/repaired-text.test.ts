import type { TextCorrection } from '@orion/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { findInvalidPlaces } from './invalid-places.ts';
import { repairedText } from './repaired-text.ts';
import {
  CHUNK_SIZES,
  collect,
  decodedByThePlatform,
  hardBytes,
  inChunks,
} from './testing/bytes.ts';

/** The plain way: from the last correction to the first (R100). */
function spliced(bytes: Uint8Array, corrections: readonly TextCorrection[]): Uint8Array {
  return corrections
    .toReversed()
    .reduce(
      (text, { start, end, text: replacement }) =>
        Buffer.concat([text.subarray(0, start), Buffer.from(replacement), text.subarray(end)]),
      bytes,
    );
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

const answers = fc.array(fc.option(fc.constantFrom('', '-', 'é', '😀', 'ab')), {
  minLength: 60,
  maxLength: 60,
});

describe('R099, R100: text on its way to the file', () => {
  it('valid text comes through unchanged, and no layer is put over it', () => {
    const source = inChunks(Buffer.from('text'), 3);
    expect(repairedText(source, null)).toBe(source);
    expect(repairedText(source, { found: 1, rounds: [[], []], replace: false })).toBe(source);
  });

  it('corrections of up to three rounds, and U+FFFD for what is still invalid', async () => {
    await fc.assert(
      fc.asyncProperty(
        hardBytes,
        fc.array(answers, { maxLength: 3 }),
        fc.constantFrom(...CHUNK_SIZES),
        async (bytes, replies, size) => {
          let text: Uint8Array = bytes;
          const rounds: TextCorrection[][] = [];
          for (const reply of replies) {
            const { places } = await findInvalidPlaces(inChunks(text, size), 20);
            const corrections = places.flatMap((place, index): TextCorrection[] => {
              const answer = reply[index];
              if (answer === null || answer === undefined) return [];
              const { byte_offset: start, byte_length } = place;
              return [{ start, end: start + byte_length, text: answer }];
            });
            rounds.push(corrections);
            text = spliced(text, corrections);
            const repair = { found: 0, rounds, replace: false };
            expect(hex(await collect(repairedText(inChunks(bytes, size), repair)))).toBe(hex(text));
          }
          const whole = await collect(
            repairedText(inChunks(bytes, size), { found: 0, rounds, replace: true }),
          );
          expect(hex(whole)).toBe(hex(decodedByThePlatform(text)));
          expect((await findInvalidPlaces(inChunks(whole, size), 1)).count).toBe(0);
        },
      ),
      { numRuns: 400 },
    );
  });

  it('a correction that joins what stood on both sides of it is found by the next round', async () => {
    // Without the FF the bytes around it are one character.
    const bytes = Uint8Array.from([0xe2, 0xff, 0x82, 0xac]);
    const repair = { found: 3, rounds: [[{ start: 1, end: 2, text: '' }]], replace: false };
    expect(String(await collect(repairedText(inChunks(bytes, 1), repair)))).toBe('€');
  });
});
