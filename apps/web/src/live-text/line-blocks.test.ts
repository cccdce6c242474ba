import fastCheck from 'fast-check';
import { describe, expect, it } from 'vitest';

import { charactersIn, LineBlocks, LINES, utf8Length } from './line-blocks.ts';

/** Hazard: a line is counted, or a byte lies, where it is not; a rewind cuts a character. */

/** The generators of fast-check take seconds to be made. */
const codePoint = fastCheck
  .integer({ min: 0, max: 0x10ffff })
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code));

type Step = { readonly text: string } | { readonly toByte: number };

const text = fastCheck
  .array(
    fastCheck.oneof(
      fastCheck.constantFrom(
        '\n',
        '\n'.repeat(LINES - 1),
        'a\n'.repeat(LINES * 2),
        'é',
        '漢',
        '😀',
        '\r\n',
        '\u2028',
      ),
      fastCheck.string({ unit: codePoint, maxLength: 6 }),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(''));
const step: fastCheck.Arbitrary<Step> = fastCheck.oneof(
  { weight: 3, arbitrary: fastCheck.record({ text }) },
  fastCheck.record({ toByte: fastCheck.nat(4000) }),
);

function run(steps: readonly Step[]) {
  const blocks = new LineBlocks();
  const texts: string[] = [];
  for (const given of steps) {
    if ('text' in given) {
      for (const { index, text: part } of blocks.append(given.text))
        texts[index] = (texts[index] ?? '') + part;
      continue;
    }
    const cut = blocks.rewind(given.toByte, (index) => texts[index] ?? '');
    if (cut === null) continue;
    texts.length = cut.index + 1;
    texts[cut.index] = (texts[cut.index] ?? '').slice(0, cut.keptCharacters);
  }
  return { blocks, texts };
}

/** The same by hand, with bytes. */
function naive(steps: readonly Step[]): string {
  let bytes = Buffer.alloc(0);
  for (const given of steps) {
    if ('text' in given) bytes = Buffer.concat([bytes, Buffer.from(given.text)]);
    else if (given.toByte < bytes.length) {
      let end = given.toByte;
      while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
      bytes = bytes.subarray(0, end);
    }
  }
  return bytes.toString();
}

describe('blocks of lines', () => {
  it('hold the text, and know their lines and bytes', () => {
    fastCheck.assert(
      fastCheck.property(fastCheck.array(step, { maxLength: 12 }), (steps) => {
        const { blocks, texts } = run(steps);
        expect(texts.join('')).toBe(naive(steps));
        let line = 1;
        let byte = 0;
        for (const [index, block] of blocks.blocks.entries()) {
          const held = texts[index] ?? '';
          const lines = held.split('\n').length - 1;
          const endByte = byte + Buffer.byteLength(held);
          expect(block).toEqual({ firstLine: line, lines, startByte: byte, endByte });
          if (index < blocks.blocks.length - 1) expect(lines).toBe(LINES);
          line += lines;
          byte = endByte;
        }
        expect([blocks.bytes, blocks.lineFeeds]).toEqual([byte, line - 1]);
      }),
      { numRuns: 300 },
    );
  });

  it('are found by a byte', () => {
    const blocks = new LineBlocks();
    blocks.append('a\n'.repeat(LINES * 3));
    expect([0, 499, 500, 999, 1000, 1500, 9999].map((byte) => blocks.indexAt(byte))).toEqual([
      0, 0, 1, 1, 2, 2, 2,
    ]);
  });
});

it('counts bytes as an encoder does, and no half character', () => {
  fastCheck.assert(
    fastCheck.property(fastCheck.string({ unit: codePoint }), fastCheck.nat(30), (given, bytes) => {
      expect(utf8Length(given)).toBe(Buffer.byteLength(given));
      const kept = given.slice(0, charactersIn(given, bytes));
      expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(bytes);
      expect(Buffer.byteLength(kept)).toBeGreaterThan(
        Math.min(bytes, Buffer.byteLength(given)) - 4,
      );
    }),
  );
});
