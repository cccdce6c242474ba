import { encodeWtf8 } from '@orion/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { incompleteTail, Wtf8Decoder } from './wtf8.ts';

/** Any sequence of UTF-16 code units, rich in surrogates. */
const anyText = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0xd7fe, max: 0xe002 }),
      fc.integer({ min: 0, max: 0xffff }),
      fc.constantFrom(0x0a, 0x41, 0xe9),
    ),
    { maxLength: 40 },
  )
  .map((units) => String.fromCharCode(...units));

describe('WTF-8', () => {
  it('comes back the same, however the bytes are split', () => {
    fc.assert(
      fc.property(anyText, fc.array(fc.nat({ max: 200 })), (text, cuts) => {
        const bytes = encodeWtf8(text);
        const decoder = new Wtf8Decoder();
        let back = '';
        let from = 0;
        for (const cut of cuts.toSorted((a, b) => a - b)) {
          back += decoder.decode(bytes.subarray(from, Math.max(from, cut)));
          from = Math.max(from, Math.min(cut, bytes.length));
        }
        back += decoder.decode(bytes.subarray(from)) + decoder.end();
        expect(back).toBe(text);
      }),
    );
  });

  it.each([
    ['half of a pair', 'eda0bd', '\ud83d'],
    ['the last of its kind', 'edbfbf', '\udfff'],
    ['a character before them', 'ed9fbf ff', '\ud7ff\ufffd'],
    ['a second byte that is too large', 'edc08041', '\ufffd\ufffd\ufffdA'],
    ['a second byte that is too large, and no third', 'edc041', '\ufffd\ufffdA'],
    ['a third byte that goes on with nothing', 'eda04100', '\ufffd\ufffdA\0'],
    ['a third byte that begins a character', 'eda0c3a9', '\ufffd\ufffdé'],
    ['one half after the other', 'eda0bdeda0bd', '\ud83d\ud83d'],
  ])('reads %s', (_name, hex, text) => {
    const decoder = new Wtf8Decoder();
    expect(decoder.decode(Buffer.from(hex.replaceAll(' ', ''), 'hex')) + decoder.end()).toBe(text);
  });

  it('finds a code point that is cut off at any place', () => {
    fc.assert(
      fc.property(anyText, fc.nat(), (text, at) => {
        const bytes = encodeWtf8(text);
        const cut = bytes.subarray(0, at % (bytes.length + 1));
        const whole = cut.subarray(0, cut.length - incompleteTail(cut));
        const back = new Wtf8Decoder().decode(whole);
        expect(text.startsWith(back)).toBe(true);
        expect(cut.length - whole.length).toBeLessThanOrEqual(3);
      }),
    );
  });
});
