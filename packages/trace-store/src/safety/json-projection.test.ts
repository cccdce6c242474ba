import fastCheck from 'fast-check';
import { expect, test } from 'vitest';
import { toProjection, toStorableText } from './json-projection.ts';

const anyUnits = fastCheck
  .array(
    fastCheck.oneof(
      fastCheck.constantFrom(0, 0x5c, 0x75, 0x30, 0x22, 0xd83d, 0xde00, 0xfffd),
      fastCheck.integer({ min: 0, max: 0xffff }),
      fastCheck.integer({ min: 0xd800, max: 0xdfff }),
    ),
    { maxLength: 60 },
  )
  .map((units) => String.fromCharCode(...units));

test('U+0000 and half a pair become U+FFFD in values and in keys', () => {
  expect(toProjection(JSON.stringify({ s: 'a\u0000\ud800', '\u0000': 'b\udc00' }))).toBe(
    '{"s":"a\ufffd\ufffd","\ufffd":"b\ufffd"}',
  );
});

test('a backslash that stands before the letters of an escape is none of it', () => {
  for (const text of ['\\u0000', '\\\\u0000', '\\ud800', 'C:\\users\\u0000.txt']) {
    expect(JSON.parse(toProjection(JSON.stringify(text)))).toBe(text);
  }
  expect(JSON.parse(toProjection(JSON.stringify('\\\u0000')))).toBe('\\\ufffd');
});

test('is the JSON of the same text with each of them replaced, whatever the text', () => {
  fastCheck.assert(
    fastCheck.property(anyUnits, (text) => {
      const wanted = toStorableText(text);
      expect(JSON.parse(toProjection(JSON.stringify(text)))).toBe(wanted);
      expect(wanted.isWellFormed() && !wanted.includes('\u0000')).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

test('other control characters and whole pairs stay', () => {
  const text = '\u0001\u001f\n"\u{1f600}\u2028';
  expect(JSON.parse(toProjection(JSON.stringify(text)))).toBe(text);
});
