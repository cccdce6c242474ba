import { expect, test } from 'vitest';
import { chooseAnchor } from './anchor.ts';
import { appendToSummary, createSummary } from '../content-summary.ts';
import { createReplyCensus, endReplyCensus, readReplyCensus } from './reply-census.ts';
import type { ReplyFacts } from './reply-census.ts';
import { END_MARKER } from '../testing/continuation.ts';

/** Hazard: a remark is appended to a file as if it were content, or content is taken for a remark. */

const ROWS = Array.from(
  { length: 30 },
  (_, index) => `row ${String(index + 1).padStart(2, '0')}\n`,
).join('');
const LATER = ROWS.replaceAll('row', 'later row');

function factsOf(pieces: readonly string[], saved: string = ROWS): ReplyFacts {
  const summary = appendToSummary(createSummary(), saved);
  let census = createReplyCensus({ summary, anchor: chooseAnchor(summary), endMarker: END_MARKER });
  for (const piece of pieces) census = readReplyCensus(census, piece);
  return endReplyCensus(census);
}

test.each<[string, string, Partial<ReplyFacts>]>([
  [
    'a remark',
    'Yes, finished.\nDONE\n',
    { nonBlankLines: 1, text: 'Yes, finished.\n', clean: false },
  ],
  [
    'a remark without an end',
    'all good',
    { nonBlankLines: 1, text: 'all good', clean: true, headLines: [] },
  ],
  ['only markers', 'DONE\n\nDONE 7f3a', { nonBlankLines: 0, text: '', clean: false }],
  ['a marker within is content', 'a\nDONE\nb\nDONE\n', { nonBlankLines: 3, text: 'a\nDONE\nb\n' }],
  ['more than three lines', 'a\nb\nc\nd\n', { nonBlankLines: 4, text: null, clean: true }],
  ['long, but few lines', 'x'.repeat(70_000), { nonBlankLines: 1, text: null }],
  [
    'A4: goes on at once',
    'row 31\nrow 32\nrow 33\nrow 34\nrow 35\n',
    { nonBlankLines: 5, clean: true },
  ],
  [
    'a chat line first',
    'Here is the rest:\nrow 31\nrow 32\nrow 33\n',
    { clean: false, headLines: [] },
  ],
  ['a fence first', '\n```\nrow 31\nrow 32\nrow 33\n', { clean: false, headLines: [] }],
  ['a tag first', '<tail-7f3a>\nrow 31\nrow 32\nrow 33\n', { clean: false, headLines: [] }],
  ['an anchor line among the first three', 'x y\nz\n  row 29\nrow 31\n', { clean: false }],
  ['an anchor line behind them', 'x y\nz\nw\nrow 29\nrow 31\n', { clean: true }],
])('R039 and rule 9: %s', (_, reply, facts) => {
  expect(factsOf([reply])).toMatchObject(facts);
  expect(factsOf(reply.slice(0, 2_000) === reply ? reply.split('') : [reply])).toEqual(
    factsOf([reply]),
  );
});

test('rule 9: head lines are as few as make them recognisable, with blank lines before them', () => {
  expect(factsOf([LATER]).headLines).toEqual(['later row 01', 'later row 02', 'later row 03']);
  expect(factsOf([`\n${LATER}`]).headLines).toEqual([
    '',
    'later row 01',
    'later row 02',
    'later row 03',
  ]);
});

test('rule 9: no head lines that are saved already, come twice, or may be cut off', () => {
  const long = ROWS.repeat(2);
  expect(factsOf([ROWS], long).headLines).toEqual([]);
  expect(factsOf(['a line that repeats\n'.repeat(20)]).headLines).toEqual([]);
  expect(factsOf(['the first line of part two\nthe second li']).headLines).toEqual([]);
});
