import { expect, it } from 'vitest';

import {
  asSentence,
  clip,
  formatAge,
  formatBytes,
  formatCount,
  formatElapsed,
  plural,
} from './format.ts';
import { wantsPlain } from './plain-wanted.ts';
import { alignColumns } from './table.ts';
import { emphasize, paint } from './tone.ts';

/** Hazard: a size, a time or an answer that reads as another one. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

it.each([
  [0, '0'],
  [999, '999'],
  [1_000, '1,000'],
  [999_999.5, '1,000,000'],
  [1_234_567, '1,234,567'],
])('writes the count %d as %s', (count, text) => {
  expect(formatCount(count)).toBe(text);
});

it.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_000, '1.0 kB'],
  [999_949, '999.9 kB'],
  [1_000_000, '1.0 MB'],
  [12_345_678, '12.3 MB'],
])('writes %d bytes as %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

it.each([
  [-1, '0 s', '0:00'],
  [999, '0 s', '0:00'],
  [59_999, '59 s', '0:59'],
  [MINUTE, '1 min', '1:00'],
  [61 * SECOND, '1 min', '1:01'],
  [HOUR - 1, '59 min', '59:59'],
  [HOUR, '1 h', '60:00'],
  [48 * HOUR - 1, '47 h', '2879:59'],
  [48 * HOUR, '2 d', '2880:00'],
  [71 * HOUR, '2 d', '4260:00'],
])('writes %d ms as an age of %s and a time of %s', (milliseconds, age, elapsed) => {
  expect([formatAge(milliseconds), formatElapsed(milliseconds)]).toEqual([age, elapsed]);
});

it.each([
  [0, '0 lines'],
  [1, '1 line'],
  [2_000, '2,000 lines'],
])('counts %d as %s', (count, text) => {
  expect(plural(count, 'line')).toBe(text);
});

it.each([
  ['the person said no', 'The person said no.'],
  ['Why? ', 'Why? .'],
  ['why?', 'Why?'],
  ['stop!', 'Stop!'],
  ['it is done.', 'It is done.'],
  ['x', 'X.'],
])('makes a sentence of %j', (text, sentence) => {
  expect(asSentence(text)).toBe(sentence);
});

it('clips a text at its limit, never in the middle of a character', () => {
  expect(clip('abcd', 4)).toBe('abcd');
  expect(clip('abcde', 4)).toBe('abc…');
  expect(clip('ab😀de', 4)).toBe('ab\ufffd…');
});

it('aligns columns of rows that differ in their lengths', () => {
  expect(
    alignColumns([
      ['a', 'long', 'x'],
      ['bcd', 'e'],
      ['f', '', 'gh'],
    ]),
  ).toBe('a    long  x\nbcd  e\nf          gh\n');
  expect(alignColumns([])).toBe('');
});

it('paints a line in the colour of its kind, where there are colours', () => {
  expect(
    (['notice', 'warning', 'error', 'success', 'faint'] as const).map((kind) =>
      paint('x', kind, true),
    ),
  ).toEqual(['x', '\x1b[33mx\x1b[0m', '\x1b[31mx\x1b[0m', '\x1b[32mx\x1b[0m', '\x1b[2mx\x1b[0m']);
  expect(paint('x', 'error', false)).toBe('x');
  expect([emphasize('x', true), emphasize('x', false)]).toEqual(['\x1b[1mx\x1b[0m', 'x']);
});

it.each<[Record<string, string>, boolean]>([
  [{}, false],
  [{ ACCESSIBLE: '' }, false],
  [{ ACCESSIBLE: '0' }, false],
  [{ ACCESSIBLE: 'false' }, false],
  [{ ACCESSIBLE: '1' }, true],
  [{ TERM: 'xterm' }, false],
  [{ TERM: 'dumb' }, true],
])('with %j wants plain text: %s', (environment, isWanted) => {
  expect(wantsPlain(environment, false)).toBe(isWanted);
  expect(wantsPlain(environment, true)).toBe(true);
});
