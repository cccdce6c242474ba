import fc from 'fast-check';
import { expect, test } from 'vitest';

import { ContentDecoder } from './content-decoder.ts';

/** WTF-8, as the content file is written: a lone surrogate stands as three bytes. */
function encode(text: string): Buffer {
  const parts: Buffer[] = [];
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code >= 0xd800 && code <= 0xdfff) {
      parts.push(
        Buffer.from([0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)]),
      );
    } else {
      parts.push(Buffer.from(character, 'utf8'));
    }
  }
  return Buffer.concat(parts);
}

const units = fc.constantFrom(
  'a',
  '\n',
  'é',
  '한',
  '힣',
  '\ud7ff',
  '😀',
  '\ud83d',
  '\ude00',
  '\ufeff',
  '\ue000',
);
const texts = fc.array(units, { maxLength: 30 }).map((parts) => {
  // A high surrogate before a low one would be a pair, which is another character.
  return parts.join('').replaceAll(/[\ud800-\udbff](?![\udc00-\udfff])(?=.)/gsu, '$&x');
});

test('R053: what was stored is read back unit by unit, however the bytes are divided', () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 7 }), (text, size) => {
      const bytes = encode(text);
      const decoder = new ContentDecoder();
      let read = '';
      for (let start = 0; start < bytes.length; start += size) {
        read += decoder.decode(bytes.subarray(start, start + size));
      }
      expect(read + decoder.end()).toBe(text);
    }),
    { numRuns: 1000 },
  );
});
