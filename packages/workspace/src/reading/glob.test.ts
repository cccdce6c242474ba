import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';

import { matchesGlob, parseGlob } from './glob.ts';

/** Hazard: a file that git ignores and Orion reads, or one that git knows and Orion leaves out. */

function matches(pattern: string, text: string, isPath = true): boolean {
  return matchesGlob(parseGlob(pattern, isPath), text, { left: 1_000_000 });
}

const ASCII = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte));

describe('a class has these bytes', () => {
  const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
  const SMALL = LETTERS.toLowerCase();
  const DIGITS = '0123456789';
  const SIGNS = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';
  const CONTROLS = `${ASCII.slice(0, 32).join('')}\u007f`;
  it.each<[string, string]>([
    ['alnum', DIGITS + LETTERS + SMALL],
    ['alpha', LETTERS + SMALL],
    ['blank', '\t '],
    ['cntrl', CONTROLS],
    ['digit', DIGITS],
    ['graph', SIGNS + DIGITS + LETTERS + SMALL],
    ['lower', SMALL],
    ['print', ` ${SIGNS}${DIGITS}${LETTERS}${SMALL}`],
    ['punct', SIGNS],
    ['space', '\t\n\v\f\r '],
    ['upper', LETTERS],
    ['xdigit', `${DIGITS}ABCDEFabcdef`],
    ['word', ''],
    ['', ''],
    ['toString', ''],
  ])('[[:%s:]]', (name, members) => {
    const found = ASCII.filter((byte) => matches(`[[:${name}:]]`, byte, false));
    expect(found.join('')).toBe([...members].toSorted().join(''));
    const others = ASCII.filter((byte) => matches(`[^[:${name}:]]`, byte, false));
    // Of a class that there is not nothing matches, and neither does its opposite.
    expect(others).toHaveLength(members === '' ? 0 : 256 - members.length);
  });
});

test.each<[pattern: string, bytes: string]>([
  ['[abc]', 'abc'],
  ['[a-c]', 'abc'],
  ['[a-]', '-a'],
  ['[-a]', '-a'],
  ['[]a]', ']a'],
  ['[]-a]', ']^_`a'],
  ['[a-c-e]', '-abce'],
  ['[c-a]', 'c'],
  ['[\\a-\\c]', 'abc'],
  ['[\\]]', ']'],
  ['[a\\]b]', ']ab'],
  ['[[:digit:]a]', '0123456789a'],
  ['[[:digit:]-a]', '-0123456789a'],
  ['[b[:digit:]-d]', '-0123456789bd'],
  ['[[:digit]', ':[dgit'],
  ['[[a]', '[a'],
  ['[a[:]', ':[a'],
  ['[!-~]', ''],
  ['[+--]', '+,-'],
  ['[a-', ''],
  ['[a', ''],
  ['[', ''],
  ['[]', ''],
  ['[!', ''],
  ['[\\', ''],
  ['[a-\\', ''],
  ['[[:digit:]', ''],
  ['[[:', ''],
])('%s has the bytes %j', (pattern, bytes) => {
  const found = ASCII.slice(0x20, 0x7f).filter((byte) => matches(pattern, byte, false));
  const expected =
    pattern === '[!-~]'
      ? ASCII.slice(0x20, 0x7f).filter((byte) => byte !== '-' && byte !== '~')
      : [...bytes].toSorted();
  expect(found.join('')).toBe(expected.join(''));
});

test.each<[pattern: string, text: string, asPath: boolean, asName: boolean]>([
  ['a', 'a', true, true],
  ['a', 'b', false, false],
  ['a', 'aa', false, false],
  ['', '', true, true],
  ['', 'a', false, false],
  ['?', 'a', true, true],
  ['?', '/', false, true],
  ['[/]', '/', false, true],
  ['[^a]', '/', false, true],
  ['*', '', true, true],
  ['*', 'a/b', false, true],
  ['a*b', 'aXXb', true, true],
  ['a*b', 'a/b', false, true],
  ['**', 'a/b', true, true],
  ['a**b', 'a/b', false, true],
  ['**a', 'x/a', false, true],
  ['a**', 'a/x', false, true],
  ['**/a', 'a', true, false],
  ['**/a', 'x/y/a', true, true],
  ['**/a', 'xa', false, false],
  ['***/a', 'x/a', true, true],
  ['a/**', 'a/x/y', true, true],
  ['a/**', 'a/', true, true],
  ['a/**', 'a', false, false],
  ['a/**/b', 'a/b', true, false],
  ['a/**/b', 'a/x/y/b', true, true],
  ['a/**/b', 'ab', false, false],
  ['a/**x', 'a/y/x', false, true],
  ['a/**\\/b', 'a/x/b', true, true],
  ['\\*', '*', true, true],
  ['\\*', 'a', false, false],
  ['\\a', 'a', true, true],
  ['\\', '\\', false, false],
  ['a\\', 'a', false, false],
  ['a]', 'a]', true, true],
])('%s and %j: %s as a path, %s as a name', (pattern, text, asPath, asName) => {
  expect(matches(pattern, text, true)).toBe(asPath);
  expect(matches(pattern, text, false)).toBe(asName);
});

/** The same, by trying everything. */
function plain(pattern: string, text: string): boolean {
  if (pattern === '') return text === '';
  const [first, ...rest] = pattern;
  const behind = rest.join('');
  if (pattern.startsWith('**/')) {
    return (
      [...text].some((byte, at) => byte === '/' && plain(pattern.slice(3), text.slice(at + 1))) ||
      plain(pattern.slice(3), text)
    );
  }
  if (first === '*') {
    for (let at = 0; at <= text.length; at += 1) {
      if (plain(behind, text.slice(at))) return true;
      if (text[at] === '/') return false;
    }
    return false;
  }
  if (text === '' || (first === '?' ? text.startsWith('/') : !text.startsWith(first ?? '')))
    return false;
  return plain(behind, text.slice(1));
}

test('matches what trying everything matches', () => {
  const part = fc.constantFrom('a', 'b', '?', '*', 'a*', '*b');
  const patterns = fc
    .array(fc.oneof(part, fc.constant('**')), { minLength: 1, maxLength: 4 })
    // Two stars cross slashes only where they are a whole part, here with one behind.
    .map((parts) =>
      parts.map((each, at) => (each === '**' && at === parts.length - 1 ? 'a' : each)).join('/'),
    );
  const texts = fc
    .array(fc.constantFrom('a', 'b', '/'), { maxLength: 7 })
    .map((bytes) => bytes.join(''));
  fc.assert(
    fc.property(patterns, texts, (pattern, text) => {
      expect(matches(pattern, text)).toBe(plain(pattern, text));
    }),
    { numRuns: 2_000 },
  );
});

test('G2: each byte costs one look at each place, and without a budget nothing matches', () => {
  const glob = parseGlob('a*b', true);
  const budget = { left: 12 };
  expect(matchesGlob(glob, 'axb', budget)).toBe(true);
  expect(budget.left).toBe(0);
  expect(matchesGlob(glob, 'axb', { left: 11 })).toBe(false);
  const early = { left: 100 };
  expect(matchesGlob(glob, 'xxxxxxxx', early)).toBe(false);
  expect(early.left).toBe(96);
  expect(matchesGlob(null, '', { left: 1 })).toBe(false);
});

it.each([true, false])('thousands of `?` share one token (in a path: %s)', (isPath) => {
  expect(new Set(parseGlob('?'.repeat(4000), isPath)).size).toBe(1);
});
