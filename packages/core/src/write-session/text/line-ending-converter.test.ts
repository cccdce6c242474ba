import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  convertLineEndings,
  createConverter,
  endConversion,
  type LineEndingConversion,
} from './line-ending-converter.ts';
import { dividedText, unitsOf } from './testing/splits.ts';

function convert(
  conversion: LineEndingConversion,
  pieces: readonly string[],
  afterCarriageReturn = false,
): string {
  let state = createConverter(conversion, afterCarriageReturn);
  let converted = '';
  for (const piece of pieces) {
    const step = convertLineEndings(state, piece);
    state = step.state;
    converted += step.text;
  }
  return converted + endConversion(state);
}

test.each([
  ['lf_to_crlf', 'a\nb\r\nc\n\n', 'a\r\nb\r\nc\r\n\r\n'],
  ['lf_to_crlf', 'a\rb\r\r\n', 'a\rb\r\r\n'],
  ['crlf_to_lf', 'a\r\nb\n\r\n', 'a\nb\n\n'],
  ['crlf_to_lf', 'a\rb\r\r\nc\r', 'a\rb\r\nc\r'],
  ['none', 'a\r\nb\n\r', 'a\r\nb\n\r'],
] as const)('§1.4a rule 7, E2: %s %j', (conversion, text, expected) => {
  expect(convert(conversion, [text])).toBe(expected);
  expect(convert(conversion, unitsOf(text))).toBe(expected);
});

test('E1: every division gives the same text', () => {
  const texts = fc
    .array(fc.constantFrom('\r', '\n', '\r\n', 'a', ''), { maxLength: 12 })
    .map((parts) => parts.join(''));
  const conversions = fc.constantFrom<LineEndingConversion>('none', 'lf_to_crlf', 'crlf_to_lf');
  fc.assert(
    fc.property(
      dividedText(texts),
      conversions,
      fc.boolean(),
      ({ text, pieces }, conversion, after) => {
        const whole = convert(conversion, [text], after);
        expect(convert(conversion, pieces, after)).toBe(whole);
        expect(convert(conversion, unitsOf(text), after)).toBe(whole);
        // Only CR before LF is added or removed.
        expect(whole.replaceAll(/\r+\n/gu, '\n')).toBe(text.replaceAll(/\r+\n/gu, '\n'));
      },
    ),
    { numRuns: 2_000 },
  );
});

test('E3: without conversion nothing waits', () => {
  const step = convertLineEndings(createConverter('none'), 'a\r');
  expect(step.text).toBe('a\r');
});

test('an LF whose CR stands in the content already is not given another', () => {
  expect(convert('lf_to_crlf', ['\n', '\n'], true)).toBe('\n\r\n');
});
