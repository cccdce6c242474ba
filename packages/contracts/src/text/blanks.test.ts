import { expect, test } from 'vitest';
import { inkEndOf, inkStartOf, isBlankCode, isBlankOrLineFeed, isBlankText } from './blanks.ts';

const BLANKS = [' ', '\t', '\r'];
/** White space elsewhere, and none in a line of text. */
const OTHERS = ['\v', '\f', '\u0085', '\u00a0', '\u2028', '\ufeff', '\0', 'a'];

test('A18: only spaces, tabs and CR are blanks, and only LF ends a line', () => {
  const code = (character: string): number => character.charCodeAt(0);
  for (const blank of BLANKS) {
    expect(isBlankCode(code(blank))).toBe(true);
    expect(isBlankOrLineFeed(code(blank))).toBe(true);
    expect(isBlankText(`${blank}\n`)).toBe(true);
    expect(isBlankText(`${blank}\na`)).toBe(false);
  }
  expect(isBlankCode(code('\n'))).toBe(false);
  expect(isBlankOrLineFeed(code('\n'))).toBe(true);
  for (const other of OTHERS) {
    expect(isBlankOrLineFeed(code(other))).toBe(false);
    expect(isBlankText(` ${other}\n`)).toBe(false);
  }
});

test('the first and the last ink of a text', () => {
  expect(isBlankText('')).toBe(true);
  expect(isBlankText(' \t\r\n\n')).toBe(true);
  expect([inkStartOf(''), inkStartOf(' \n'), inkStartOf('\r\n\tab ')]).toEqual([0, 2, 3]);
  expect([inkEndOf(''), inkEndOf(' \n'), inkEndOf(' ab\t\r\n')]).toEqual([0, 0, 3]);
  expect([inkEndOf('ab  cd', 4), inkEndOf('ab  cd', 5)]).toEqual([2, 5]);
});
