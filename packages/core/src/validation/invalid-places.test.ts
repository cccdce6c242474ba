import type { InvalidTextCode } from '@orion/contracts';
import { describe, expect, it } from 'vitest';

import { findInvalidPlaces } from './invalid-places.ts';
import { CHUNK_SIZES, inChunks } from './testing/bytes.ts';

function bytesOf(...parts: readonly (string | readonly number[])[]): Uint8Array {
  return Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))),
  );
}

describe('R092: what is invalid, and why', () => {
  const cases: readonly (readonly [
    string,
    readonly number[],
    readonly [InvalidTextCode, number][],
  ])[] = [
    ['U+0000', [0x00], [['nul', 1]]],
    ['a high surrogate', [0xed, 0xa0, 0xbd], [['surrogate', 3]]],
    ['a low surrogate', [0xed, 0xb8, 0x80], [['surrogate', 3]]],
    [
      'half a surrogate',
      [0xed, 0xa0],
      [
        ['truncated', 1],
        ['unexpected_byte', 1],
      ],
    ],
    ['a truncated sequence is one place', [0xf0, 0x9f, 0x98], [['truncated', 3]]],
    [
      'an overlong slash',
      [0xc0, 0xaf],
      [
        ['overlong', 1],
        ['unexpected_byte', 1],
      ],
    ],
    [
      'an overlong sequence of three',
      [0xe0, 0x9f, 0xbf],
      [
        ['overlong', 1],
        ['unexpected_byte', 1],
        ['unexpected_byte', 1],
      ],
    ],
    [
      'an overlong sequence of four',
      [0xf0, 0x8f],
      [
        ['overlong', 1],
        ['unexpected_byte', 1],
      ],
    ],
    [
      'beyond U+10FFFF',
      [0xf4, 0x90],
      [
        ['out_of_range', 1],
        ['unexpected_byte', 1],
      ],
    ],
    ['a lead of no code point', [0xf5], [['out_of_range', 1]]],
    ['a continuation byte alone', [0x80], [['unexpected_byte', 1]]],
    ['a byte of Latin-1', [0xe9], [['truncated', 1]]],
    ['FF', [0xff], [['unexpected_byte', 1]]],
  ];
  it.each(cases)('%s', async (_name, bytes, expected) => {
    for (const size of CHUNK_SIZES) {
      const { places } = await findInvalidPlaces(inChunks(bytesOf('a', bytes, 'b'), size), 20);
      expect(places.map((place) => [place.code, place.byte_length])).toEqual(expected);
    }
  });

  it('tabs, CR, other controls, NBSP, joined emoji, BOM and noncharacters pass', async () => {
    const text = '\ufeff\t\r\n\u0001\u007f\u0085\u00a0\u2028👩‍👩‍👧\ufffe\uffff\u{10ffff}\ufffd';
    expect((await findInvalidPlaces(inChunks(bytesOf(text), 3), 20)).count).toBe(0);
  });
});

describe('R095: where it stands', () => {
  it('R094: half a pair between two letters is exactly one place', async () => {
    const report = await findInvalidPlaces(
      inChunks(bytesOf('A', [0xed, 0xa0, 0xbd], 'B\n'), 2),
      20,
    );
    expect(report).toEqual({
      bytes: 6,
      count: 1,
      places: [
        {
          index: 1,
          position: 1,
          byte_offset: 1,
          byte_length: 3,
          line: 1,
          column: 2,
          code: 'surrogate',
          context: { before: 'A', invalid: '\\ud83d', after: 'B\n' },
        },
      ],
    });
  });

  it('twenty code units on each side, never half a pair, what is invalid there escaped', async () => {
    const bytes = bytesOf('0123456789', '😀'.repeat(9), 'é', [0xff], [0xfe], '世', '😀'.repeat(12));
    const { places } = await findInvalidPlaces(inChunks(bytes, 5), 20);
    expect(places.map((place) => place.context)).toEqual([
      { before: `9${'😀'.repeat(9)}é`, invalid: '\\xff', after: `\\xfe世${'😀'.repeat(9)}` },
      { before: `${'😀'.repeat(9)}é\\xff`, invalid: '\\xfe', after: `世${'😀'.repeat(9)}` },
    ]);
  });

  it('R093: a context goes back over chunks that are gone by then', async () => {
    const text = Array.from({ length: 60 }, (_, index) => `${index}é`).join(' ');
    const bytes = bytesOf(text, [0xff], text);
    for (let size = 60; size < 160; size += 1) {
      const { places } = await findInvalidPlaces(inChunks(bytes, size), 20);
      expect(places.map(({ context }) => context)).toEqual([
        { before: text.slice(-20), invalid: '\\xff', after: text.slice(0, 20) },
      ]);
    }
  });

  it('only LF ends a line', async () => {
    const bytes = bytesOf('a\rb\u2028c\u0085d\r\n😀', [0x00], 'z');
    const { places } = await findInvalidPlaces(inChunks(bytes, 4), 20);
    expect(places).toMatchObject([{ line: 2, column: 3, position: 11, code: 'nul' }]);
  });
});
