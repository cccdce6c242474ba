/** Hazard: a file that is skipped although it has a match. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { requiredText } from './required-text.ts';

it.each([
  ['needle', 'needle'],
  ['^function\\s+needle\\w+$', 'function'],
  ['a+Of(?:0|5)\\(x', 'Of'],
  ['abc*def', 'def'],
  ['abc?', 'ab'],
  ['abc{2}', 'ab'],
  ['ab{0,1}cd', 'cd'],
  ['abc+d', 'abc'],
  ['(abc|d)ef', 'ef'],
  ['[abc)]ef', 'ef'],
  ['(?:[)]\\)x)?ef', 'ef'],
  ['a\\.b', 'a.b'],
  ['a\\.?bc', 'bc'],
])('%s needs %s', (pattern, text) => {
  expect(requiredText(pattern)).toBe(text);
});

it.each([
  'abc|def',
  'a',
  '.*',
  '(abc)',
  '[abc]',
  'a.b',
  'ab*',
  'é€',
  'abc)',
  '',
  '\\u0041bc',
  '\\x41bcd',
  '(a)\\10bc',
])('%j needs nothing that is easy to see', (pattern) => {
  expect(requiredText(pattern)).toBeNull();
});

const PIECES = [
  'a',
  'b',
  'ab',
  '.',
  '\\.',
  '\\d',
  '\\s',
  '[ab]',
  '[^a)]',
  '(?:ab|b)',
  '(a)',
  '(?=b)',
  '(?<!a)',
  '\\x61',
  '\\u0061',
  '\\cA',
  '\\p{L}',
  '^',
  '$',
  'é',
  '{',
  '\\1',
];
const QUANTIFIERS = ['', '', '', '*', '+', '?', '{2}', '{0,1}', '*?', '{,2}'];

const patterns = fc
  .array(fc.tuple(fc.constantFrom(...PIECES), fc.constantFrom(...QUANTIFIERS)), {
    minLength: 1,
    maxLength: 6,
  })
  .map((pieces) => pieces.map(([piece, many]) => piece + many).join(''));
const texts = fc
  .array(fc.constantFrom('a', 'b', 'ab', '.', 'é', '1', ' ', '{', '2}'), { maxLength: 12 })
  .map((pieces) => pieces.join(''));

it('every match contains it', () => {
  let matched = 0;
  fc.assert(
    fc.property(patterns, texts, (pattern, text) => {
      const required = requiredText(pattern);
      if (required === null) return;
      for (const flags of ['u', '']) {
        try {
          const [match] = new RegExp(pattern, flags).exec(text) ?? [];
          if (match === undefined) continue;
          matched += 1;
          expect(match).toContain(required);
        } catch (error) {
          if (!(error instanceof SyntaxError)) throw error;
        }
      }
    }),
    { numRuns: 30_000 },
  );
  expect(matched).toBeGreaterThan(100);
});
