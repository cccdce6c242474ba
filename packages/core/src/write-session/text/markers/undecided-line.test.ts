import { expect, test } from 'vitest';
import { NO_GROUP } from './held-group.ts';
import type { LineKind, MarkerReaderOptions } from './marker-rules.ts';
import { growPartial, kindOfLine, mayBeSpecial, NO_LINE } from './undecided-line.ts';
import type { UndecidedLine } from './undecided-line.ts';
import type { FenceLine } from '../lines.ts';

/** Hazard: a line is released before it is known that it is no marker, or a marker is taken for content. */

const OPTIONS: MarkerReaderOptions = {
  endMarker: 'DONE 7f3a',
  strict: false,
  doneMode: 'terminal',
  atLineStart: true,
  openLine: '',
  dropBlankLines: false,
  followsText: false,
  contentBytes: 0,
  contentLines: 0,
  wrappingFence: null,
};
const FENCE: FenceLine = { character: '`', length: 4, info: '' };
const FENCED: MarkerReaderOptions = { ...OPTIONS, wrappingFence: FENCE };
const STRICT: MarkerReaderOptions = { ...OPTIONS, strict: true };

function lineOf(...pieces: readonly string[]): UndecidedLine {
  return pieces.reduce((line, piece) => growPartial(line, piece, 0, piece.length), NO_LINE);
}

test.each<[string, UndecidedLine]>([
  ['', NO_LINE],
  ['a', { ...NO_LINE, core: 'a' }],
  ['a \t', { ...NO_LINE, core: 'a', blanks: ' \t' }],
  [' a b ', { ...NO_LINE, core: ' a b', blanks: ' ' }],
  ['a\r', { ...NO_LINE, core: 'a', blanks: '\r', endsInCarriageReturn: true }],
  ['a\r ', { ...NO_LINE, core: 'a', blanks: '\r ', strayCarriageReturn: true }],
  ['a\r\r', { core: 'a', blanks: '\r\r', endsInCarriageReturn: true, strayCarriageReturn: true }],
  ['a\r b', { ...NO_LINE, core: 'a\r b' }],
  ['\r', { ...NO_LINE, blanks: '\r', endsInCarriageReturn: true }],
  ['\r ', { ...NO_LINE, blanks: '\r ', strayCarriageReturn: true }],
])('%j grows to the same line however it arrives', (text, line) => {
  expect(lineOf(text)).toEqual(line);
  expect(lineOf(...text)).toEqual(line);
  expect(lineOf(text, '')).toEqual(line);
  expect(growPartial(NO_LINE, `xx${text}yy`, 2, 2 + text.length)).toEqual(line);
});

test('at the start of a line only some characters have to be looked at', () => {
  const special = (options: MarkerReaderOptions): string =>
    [...'DdE `~-#\t1'].filter((character) => mayBeSpecial(options, `x${character}`, 1)).join('');
  expect(special(OPTIONS)).toBe('D');
  expect(special(FENCED)).toBe('D `~');
});

/** What it is while it is not complete, and once it is. */
test.each<[string, MarkerReaderOptions, LineKind, LineKind]>([
  ['D', OPTIONS, 'prefix', 'text'],
  ['DON', OPTIONS, 'prefix', 'text'],
  ['DOX', OPTIONS, 'text', 'text'],
  ['DON ', OPTIONS, 'text', 'text'],
  ['DONE', OPTIONS, 'done', 'done'],
  ['DONE \r', OPTIONS, 'done', 'done'],
  ['DONE\r ', OPTIONS, 'text', 'text'],
  ['DONE 7', OPTIONS, 'prefix', 'text'],
  ['DONE 7f3', OPTIONS, 'prefix', 'text'],
  ['DONE 7f3a', OPTIONS, 'end_marker', 'end_marker'],
  ['DONE 7f3a ', OPTIONS, 'end_marker', 'end_marker'],
  ['DONE 7f3ab', OPTIONS, 'text', 'text'],
  ['DONE 1', OPTIONS, 'prefix', 'text'],
  ['DONE 123', OPTIONS, 'prefix', 'text'],
  ['DONE 1234', OPTIONS, 'done', 'done'],
  ['DONE 12345', OPTIONS, 'text', 'text'],
  ['DONE g', OPTIONS, 'text', 'text'],
  ['DONE', STRICT, 'prefix', 'text'],
  ['DONE ', STRICT, 'prefix', 'text'],
  ['DONE  ', STRICT, 'text', 'text'],
  ['DONE\t', STRICT, 'text', 'text'],
  ['DONE 1', STRICT, 'text', 'text'],
  ['DONE 7', STRICT, 'prefix', 'text'],
  ['DONE 1234', STRICT, 'text', 'text'],
  ['DONE 7f3a', STRICT, 'end_marker', 'end_marker'],
  [' DONE', OPTIONS, 'text', 'text'],
  ['', OPTIONS, 'text', 'blank'],
  [' ', OPTIONS, 'text', 'blank'],
  ['', FENCED, 'prefix', 'blank'],
  ['   ', FENCED, 'prefix', 'blank'],
  ['    ', FENCED, 'text', 'blank'],
  ['\t', FENCED, 'text', 'blank'],
  ['````', OPTIONS, 'text', 'text'],
  ['`', FENCED, 'prefix', 'text'],
  ['``', FENCED, 'prefix', 'text'],
  ['   ``', FENCED, 'prefix', 'text'],
  ['    ``', FENCED, 'text', 'text'],
  ['`` ', FENCED, 'text', 'text'],
  ['```', FENCED, 'prefix', 'text'],
  ['``` ', FENCED, 'text', 'text'],
  ['````', FENCED, 'fence', 'fence'],
  ['  ````` ', FENCED, 'fence', 'fence'],
  ['````js', FENCED, 'text', 'text'],
  ['~', FENCED, 'prefix', 'text'],
  ['~~~~', FENCED, 'text', 'text'],
  ['x', FENCED, 'text', 'text'],
  ['`'.repeat(128), FENCED, 'fence', 'fence'],
  ['`'.repeat(129), FENCED, 'text', 'text'],
])('what %j is while it arrives, and once it is complete', (text, options, open, complete) => {
  expect(kindOfLine(options, lineOf(text), NO_GROUP, false)).toBe(open);
  expect(kindOfLine(options, lineOf(text), NO_GROUP, true)).toBe(complete);
});

test('behind a marker any fence without a name may close, and blanks are blank at once', () => {
  const group = { ...NO_GROUP, marker: 'DONE\n' };
  const kindOf = (text: string): LineKind => kindOfLine(OPTIONS, lineOf(text), group, false);
  expect(kindOf('```')).toBe('fence');
  expect(kindOf('~~~')).toBe('fence');
  expect(kindOf('```js')).toBe('text');
  expect(kindOf('``')).toBe('prefix');
  expect(kindOf('')).toBe('blank');
});
