import { expect, test } from 'vitest';
import { chooseAnchor } from './anchor.ts';
import type { Anchor } from './anchor.ts';
import { createReplyCensus, endReplyCensus, readReplyCensus } from './reply-census.ts';
import type { ReplyFacts } from './reply-census.ts';
import { appendToSummary, createSummary } from '../content-summary.ts';
import { END_MARKER } from '../testing/continuation.ts';

/** Hazard: a reply just beyond what counts as short, or as recognisable, is read as if it were not. */

const ROWS = Array.from({ length: 30 }, (_, index) => `row number ${index + 1}\n`).join('');

function factsOf(
  pieces: readonly string[] | string,
  saved: string = ROWS,
  anchor?: Anchor,
): ReplyFacts {
  const summary = appendToSummary(createSummary(), saved);
  let census = createReplyCensus({
    summary,
    anchor: anchor ?? chooseAnchor(summary),
    endMarker: END_MARKER,
  });
  for (const piece of typeof pieces === 'string' ? [pieces] : pieces)
    census = readReplyCensus(census, piece);
  return endReplyCensus(census);
}

test.each<[string, string, ReplyFacts]>([
  ['nothing', '', { nonBlankLines: 0, text: '', clean: false, headLines: [] }],
  ['blank lines', '\n \n', { nonBlankLines: 0, text: '\n \n', clean: false, headLines: [] }],
  ['a marker', 'DONE', { nonBlankLines: 0, text: '', clean: false, headLines: [] }],
  ['three lines', 'a\nb\n\nc', { nonBlankLines: 3, text: 'a\nb\n\nc', clean: true, headLines: [] }],
  [
    'three lines and a marker without a line ending',
    'a\nb\nc\nDONE',
    { nonBlankLines: 3, text: 'a\nb\nc\n', clean: true, headLines: [] },
  ],
  [
    'three lines and a marker with one',
    'a\nb\nc\nDONE\n',
    { nonBlankLines: 3, text: 'a\nb\nc\n', clean: true, headLines: [] },
  ],
  [
    'markers with blank lines between them',
    'a\n\nDONE\n \nDONE 1234 \n\n',
    { nonBlankLines: 1, text: 'a\n\n', clean: true, headLines: [] },
  ],
  [
    'two markers within are two lines',
    'a\nDONE\nDONE\nb\nDONE',
    { nonBlankLines: 4, text: null, clean: true, headLines: [] },
  ],
  [
    'two markers first',
    'DONE\nDONE\nb',
    { nonBlankLines: 3, text: 'DONE\nDONE\nb', clean: true, headLines: [] },
  ],
  ['four lines', 'a\nb\nc\nd', { nonBlankLines: 4, text: null, clean: true, headLines: [] }],
])('%s, however it arrives', (_, reply, facts) => {
  expect(factsOf(reply)).toEqual(facts);
  expect(factsOf(reply.split(''))).toEqual(facts);
});

test('a reply of 65,536 characters is short, one of 65,537 is not', () => {
  const text = `a\n${'b'.repeat(65_534)}`;
  expect(factsOf(text).text).toBe(text);
  expect(factsOf(`${text}b`).text).toBeNull();
  expect(factsOf([text, 'b']).text).toBeNull();
  expect(factsOf(`${text}\n`).text).toBeNull();
  expect(factsOf([`${text}b`, '\nDONE\n'])).toMatchObject({ nonBlankLines: 2, text: null });
  expect(factsOf(`${text.slice(0, -6)}\nDONE\n`).text).toBe(`${text.slice(0, -6)}\n`);
});

test('what a long line is shows in its first 65,537 characters', () => {
  const blanks = ' '.repeat(40_000);
  expect(factsOf([blanks, blanks, 'a', '\n']).nonBlankLines).toBe(0);
  expect(factsOf([' '.repeat(65_536), 'a', '\n']).nonBlankLines).toBe(1);
  expect(factsOf([' '.repeat(65_537), 'a', '']).nonBlankLines).toBe(0);
});

function headOf(reply: string, saved?: string): readonly string[] {
  return factsOf(reply, saved).headLines;
}

test.each<[string, string, readonly string[]]>([
  [
    '24 ink in two lines',
    `${'a'.repeat(12)}\n${'b'.repeat(12)}\nc\n`,
    ['a'.repeat(12), 'b'.repeat(12)],
  ],
  [
    '23 ink in two lines',
    `${'a'.repeat(12)}\n${'b'.repeat(11)}\nc\nd\n`,
    ['a'.repeat(12), 'b'.repeat(11), 'c'],
  ],
  ['24 ink in one line', `${'a'.repeat(24)}\n\nb\nc\n`, ['a'.repeat(24), '', 'b']],
  ['a last line without its end', `${'a'.repeat(24)}\nb`, []],
  ['a CR is the line ending’s', `${'a'.repeat(24)} \r\nb\r\n`, [`${'a'.repeat(24)} `, 'b']],
  ['a marker ends them', `${'a'.repeat(24)}\nDONE\nb\nc\n`, []],
  ['a fence ends them', `${'a'.repeat(24)}\n\`\`\`\nb\nc\n`, []],
  ['the first line once more ends them', `${'a'.repeat(12)}\n${'a'.repeat(12)} \nc\n`, []],
  [
    'another line may come twice',
    'aa\nbb\nbb\n' + 'c'.repeat(18) + '\n',
    ['aa', 'bb', 'bb', 'c'.repeat(18)],
  ],
  [
    'ten lines',
    `${Array.from({ length: 9 }, (_, index) => `a${index}`).join('\n')}\n${'b'.repeat(6)}\n`,
    [...Array.from({ length: 9 }, (_, index) => `a${index}`), 'b'.repeat(6)],
  ],
  [
    'and no eleventh',
    `\n${Array.from({ length: 9 }, (_, index) => `a${index}`).join('\n')}\n${'b'.repeat(6)}\n`,
    [],
  ],
  [
    '2,000 characters',
    `${'a'.repeat(998)}\n${'b'.repeat(1_000)}\n`,
    ['a'.repeat(998), 'b'.repeat(1_000)],
  ],
  ['and no more', `${'a'.repeat(998)}\n${'b'.repeat(1_001)}\n`, []],
])('rule 9: head lines: %s', (_, reply, head) => {
  expect(headOf(reply)).toEqual(head);
});

test('rule 9: head lines go on until they stand nowhere in what is saved', () => {
  const saved = 'first line of a part\nsecond line of a part\nthird line of a part\nend';
  const reply = saved.replace('third', 'other');
  expect(headOf(`${reply}\nand so on\n`, saved)).toEqual([
    'first line of a part',
    'second line of a part',
    'other line of a part',
  ]);
  expect(headOf(`third line of a part\nend\nand so on\n`, saved)).toEqual([
    'third line of a part',
    'end',
    'and so on',
  ]);
  expect(headOf(`third line of a part\nends with this\nand so on\n`, saved)).toEqual([
    'third line of a part',
    'ends with this',
  ]);
});

test.each<[string, string, boolean]>([
  ['the first of three lines', '\t row number 30 \nb\nc\n', false],
  ['the second', 'a\nrow number 30\nc\n', false],
  ['the third, blank lines apart', '\na\n\nb\nrow number 29\n', false],
  ['the fourth', 'a\nb\nc\nrow number 30\n', true],
  ['a line that is not of the anchor', 'row number 20\n', true],
  ['a blank line of the anchor', 'a\n\n', true],
])('rule 9: a reply with a line of the anchor is not clean: %s', (_, reply, clean) => {
  expect(factsOf(reply).clean).toBe(clean);
  const text = ROWS.slice(ROWS.indexOf('row number 27'));
  const characters: Anchor = { kind: 'characters', text, repetitive: false, inOpenLine: false };
  expect(factsOf(reply, ROWS, characters).clean).toBe(clean);
});
