/** Hazard: a search of a whole text that misses a line, or takes two lines for one (R284). */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { withinLines } from './line-pattern.ts';

it.each([
  ['abc', 'abc'],
  ['^a.b$', '^a.b$'],
  ['(?:a|b)(?<c>d)', '(?:a|b)(?<c>d)'],
  ['a\\s+b\\D', 'a[^\\S\\n]+b[^\\d\\n]'],
  ['\\w\\d\\S\\b\\.\\/\\1', '\\w\\d\\S\\b\\.\\/\\1'],
  ['[^a]', '[^\\na]'],
  ['[^]', '[^\\n]'],
  ['[^\\]a-z]', '[^\\n\\]a-z]'],
  ['[\\w.-]', '[\\w.-]'],
])('%s becomes %s', (pattern, within) => {
  expect(withinLines(pattern)).toBe(within);
});

it.each([
  '\\n',
  '\\W',
  '\\x0a',
  '\\u000a',
  '\\cJ',
  '\\0',
  '\\p{Zl}',
  '(?=a)',
  '(?!a)',
  '(?<=a)',
  '(?<!a)',
  '(?s:.)',
  '[\\W]',
  '[\\D]',
  '[\\n]',
  '[\\t-z]',
  '[a-\\s]',
  '[^-a]',
  '[a',
  'a\nb',
  '\u0001',
  'a\\',
])('%j is left alone', (pattern) => {
  expect(withinLines(pattern)).toBeNull();
});

const ATOMS = [
  'a',
  'b',
  '.',
  '\\s',
  '\\S',
  '\\D',
  '\\w',
  '\\b',
  '[^a]',
  '[\\sa]',
  '[^\\s]',
  '^',
  '$',
  ' ',
];
const QUANTIFIERS = ['', '', '', '*', '+', '?', '{2}'];

const patterns = fc
  .array(fc.tuple(fc.constantFrom(...ATOMS), fc.constantFrom(...QUANTIFIERS)), {
    minLength: 1,
    maxLength: 5,
  })
  .map((pieces) =>
    pieces.map(([atom, many]) => (/^(?:\^|\$|\\b)$/u.test(atom) ? atom : atom + many)).join(''),
  );
const texts = fc
  .array(fc.constantFrom('a', 'b', ' ', '1', '\n', '\r\n', '\u2028', '\t'), { maxLength: 20 })
  .map((pieces) => pieces.join(''));

it('finds every line that the expression matches, and never more than one at once', () => {
  fc.assert(
    fc.property(patterns, texts, (pattern, text) => {
      const scan = new RegExp(withinLines(pattern) ?? 'never', 'gmu');
      const found = new Set<number>();
      for (const { index, 0: match } of text.matchAll(scan)) {
        expect(match).not.toContain('\n');
        found.add(text.slice(0, index).split('\n').length - 1);
      }
      const line = new RegExp(pattern, 'u');
      for (const [number, each] of text.split('\n').entries()) {
        if (line.test(each.replace(/\r$/u, ''))) expect(found).toContain(number);
      }
    }),
    { numRuns: 3000 },
  );
});
