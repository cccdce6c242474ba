import { expect, test } from 'vitest';
import {
  emptyPreamble,
  extendPreamble,
  isClosingTag,
  isMarkerLine,
  tagIdOf,
} from './seam-preamble.ts';
import type { Preamble } from './seam-preamble.ts';
import { repeatedShifts } from './seam-shifts.ts';
import type { Anchor } from './anchor.ts';
import { contentEndOf } from '../content-end.ts';
import { appendToSummary, createSummary } from '../content-summary.ts';

/** Hazard: content before a repetition is set aside as if it were talk, or talk is taken for content. */

function preambleOf(...lines: readonly string[]): Preamble | null {
  let preamble: Preamble | null = emptyPreamble;
  for (const line of lines)
    if (preamble !== null) preamble = extendPreamble(preamble, line, '7f3a');
  return preamble;
}

const FENCE = { character: '`', length: 3, info: 'js' };

test.each<[readonly string[], Partial<Preamble> | null]>([
  [[], {}],
  [[''], { hasBlankLine: true }],
  [[' ', 'So:'], { hasBlankLine: true, text: 'So:\n', chatLines: 1 }],
  [['So:', ' '], { hasBlankLine: true, text: 'So:\n \n', chatLines: 1 }],
  [['So:', 'And:'], { text: 'So:\nAnd:\n', chatLines: 2 }],
  [['So:', 'And:', 'Now:'], null],
  [['so'], null],
  [['```js'], { text: '```js\n', fence: FENCE as Preamble['fence'] }],
  [
    ['So:', 'And:', '```js', ''],
    {
      text: 'So:\nAnd:\n```js\n\n',
      chatLines: 2,
      hasBlankLine: true,
      fence: FENCE as Preamble['fence'],
    },
  ],
  [['```js', 'So:'], null],
  [['```js', '```js'], null],
  [['<tail-7f3a>'], { text: '<tail-7f3a>\n', hasTag: true }],
  [['<tail-7f3a>', ''], { text: '<tail-7f3a>\n\n', hasTag: true, hasBlankLine: true }],
  [['So:', '<end-7f3a> '], { text: 'So:\n<end-7f3a> \n', hasTag: true, chatLines: 1 }],
  [['<start-7f3ax>'], { text: '<start-7f3ax>\n', hasTag: true }],
  [['<tail-7f3axx>'], { text: '<tail-7f3axx>\n', hasTag: true }],
  [['<tail-7f3ay>'], null],
  [['<tail-7f3b>'], null],
  [['<tail-7f3a'], null],
  [['<head-7f3a>'], null],
  [['</tail-7f3a>'], null],
  [['<tail-7f3a>', '```js'], null],
  [['<tail-7f3a>', 'So:'], null],
])('what stands before a repetition: %j', (lines, facts) => {
  expect(preambleOf(...lines)).toEqual(facts === null ? null : { ...emptyPreamble, ...facts });
});

test('nothing stands before a repetition at first', () => {
  expect(emptyPreamble).toEqual({
    text: '',
    hasBlankLine: false,
    chatLines: 0,
    fence: null,
    hasTag: false,
  });
});

test.each([
  ['</tail-7f3a>', true],
  ['</end-7f3ax>\r', true],
  ['</start-7f3a> ', true],
  ['<tail-7f3a>', false],
  ['</tail-7f3a', false],
  ['</tail-7f3a>>', false],
  ['</tail-7f3a>x', false],
  [' </tail-7f3a>', false],
  ['x</tail-7f3a>', false],
])('whether %j closes a tag: %s', (line, closes) => {
  expect(isClosingTag(line, '7f3a')).toBe(closes);
});

test.each([
  ['DONE', true],
  ['DONE \t\r', true],
  ['DONE 7f3a', true],
  ['DONE 0000', true],
  ['END OF FILE', true],
  ['DONE 7f3', false],
  ['DONE 7f3ab', false],
  ['DONE 7F3A', false],
  ['DONE  7f3a', false],
  [' DONE', false],
  ['DONE.', false],
  ['xDONE', false],
  ['', false],
])('whether %j is a marker: %s', (line, is) => {
  expect(isMarkerLine(line, 'END OF FILE')).toBe(is);
});

test('the id of tags is the last word of the end marker', () => {
  expect(tagIdOf('DONE 7f3a')).toBe('7f3a');
  expect(tagIdOf('DONE')).toBe('DONE');
});

test('rule 5: what follows each earlier place of a repetitive anchor, shortest first', () => {
  const shiftsOf = (saved: string, text: string, facts: Partial<Anchor> = {}): readonly string[] =>
    repeatedShifts(contentEndOf(appendToSummary(createSummary(), saved)), {
      kind: 'characters',
      text,
      repetitive: true,
      inOpenLine: true,
      ...facts,
    } as Anchor);
  expect(shiftsOf('xabab', 'ab')).toEqual(['ab']);
  expect(shiftsOf('aaaa', 'aa')).toEqual(['a', 'aa']);
  expect(shiftsOf('abxab', 'ab')).toEqual(['xab']);
  expect(shiftsOf('ab', 'ab')).toEqual([]);
  expect(shiftsOf('xxab', 'ab')).toEqual([]);
  expect(shiftsOf('a\r\nb\r\na\r\nb', 'a\r\nb')).toEqual(['\na\nb']);
  expect(shiftsOf('xabab', 'ab', { repetitive: false })).toEqual([]);
  expect(shiftsOf('xabab', 'ab', { kind: 'lines' } as Partial<Anchor>)).toEqual([]);
  const many = shiftsOf('a'.repeat(300), 'a');
  expect(many).toHaveLength(256);
  expect(many.at(-1)).toBe('a'.repeat(256));
});
