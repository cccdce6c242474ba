import { expect, test } from 'vitest';
import { chooseAnchor } from './anchor.ts';
import type { Anchor } from './anchor.ts';
import {
  admittedOpenings,
  extendOverlap,
  isLive,
  mayBecomeNextLine,
  seamGroundOf,
  startOverlap,
} from './seam-overlap.ts';
import type { Overlap, SeamGround, Via } from './seam-overlap.ts';
import { emptyPreamble } from './seam-preamble.ts';
import { appendToSummary, createSummary, prefixHashKey } from '../content-summary.ts';
import { contentEndOf } from '../content-end.ts';

/** Hazard: a line of the reply is taken for a repetition that it is not, or a repetition is not seen. */

function groundOf(saved: string, anchor?: Anchor): SeamGround {
  const summary = appendToSummary(createSummary(), saved);
  return seamGroundOf(summary, anchor ?? chooseAnchor(summary));
}

/** The overlap behind these lines, and with what each of them completed it. */
function overlapOf(
  ground: SeamGround,
  lines: readonly string[],
): { readonly overlap: Overlap; readonly completed: readonly (Via | null)[] } {
  let overlap = startOverlap(ground, emptyPreamble);
  const completed: (Via | null)[] = [];
  for (const line of lines) {
    const next = extendOverlap(ground, overlap, line, true);
    ({ overlap } = next);
    completed.push(next.completed);
  }
  return { overlap, completed };
}

const ROWS = Array.from({ length: 9 }, (_, index) => `row number ${index + 1}`);
const SAVED = `${ROWS.join('\n')}\n`;

test('what replies are compared with: lines', () => {
  const { automaton, restart, end, ...ground } = groundOf(SAVED);
  expect(automaton.numbers.size).toBe(9);
  expect(end.lines).toEqual(ROWS);
  expect(restart).toBeNull();
  expect(ground).toEqual({
    anchor: {
      kind: 'lines',
      lines: ROWS.slice(-3),
      blankLinesBehind: 0,
      openLine: '',
      repetitive: false,
      whole: false,
    },
    eol: 'lf',
    repeated: 0,
    openLineInk: 0,
    anchorLines: ROWS.slice(-3),
    quotation: ROWS.slice(-3),
    openings: [],
    runPeriod: [],
    longLines: [],
  });
});

test.each<[string, string, Partial<SeamGround>]>([
  [
    'an open line behind lines opens in the tail',
    `${SAVED} open line`,
    {
      openLineInk: 8,
      quotation: [...ROWS.slice(-3), ' open line'],
      anchorLines: ROWS.slice(-3),
      openings: [{ text: ' open line', via: 'tail' }],
    },
  ],
  [
    'blank lines before the open line are quoted too',
    `${SAVED}\n \nopen`,
    { quotation: [...ROWS.slice(-3), '', '', 'open'] },
  ],
  [
    'but no more than 24 of them',
    `${SAVED}${'\n'.repeat(30)}open`,
    { quotation: [...ROWS.slice(-3), ...Array.from({ length: 24 }, () => ''), 'open'] },
  ],
  [
    'blank lines before an open line alone are not quoted',
    '\n\nopen line',
    {
      anchorLines: [],
      quotation: ['open line'],
      openings: [{ text: 'open line', via: 'anchor' }],
    },
  ],
  [
    'an indented open line alone may lose its indentation if it has 24 ink',
    `  ${'i'.repeat(24)}`,
    {
      openings: [
        { text: `  ${'i'.repeat(24)}`, via: 'anchor' },
        { text: 'i'.repeat(24), via: 'anchor' },
      ],
    },
  ],
  [
    'and not if it has 23',
    `  ${'i'.repeat(23)}`,
    { openings: [{ text: `  ${'i'.repeat(23)}`, via: 'anchor' }] },
  ],
  [
    'without indentation there is one opening',
    'i'.repeat(24),
    { openings: [{ text: 'i'.repeat(24), via: 'anchor' }] },
  ],
  [
    'behind lines the indentation stays',
    `${SAVED}  ${'i'.repeat(24)}`,
    { openings: [{ text: `  ${'i'.repeat(24)}`, via: 'tail' }] },
  ],
  [
    'a long open line opens as a whole and with its anchor',
    `${'w'.repeat(300)} ${'v'.repeat(150)}`,
    {
      anchorLines: [],
      quotation: ['v'.repeat(150)],
      openings: [
        { text: `${'w'.repeat(300)} ${'v'.repeat(150)}`, via: 'anchor' },
        { text: 'v'.repeat(150), via: 'anchor' },
      ],
    },
  ],
  [
    'an anchor of characters over several lines has them as whole lines',
    `first\n${'word '.repeat(300)}1\n${'x'.repeat(24)} \n`,
    { openings: [], openLineInk: 0 },
  ],
  ['a run of four that ends in ink', `${SAVED}${'\na;\n'.repeat(4)}`, { runPeriod: ['a;'] }],
  ['a run of three does not go on', `${SAVED}${'};\n'.repeat(3)}`, { runPeriod: [] }],
  ['a run of four does', `${SAVED}${'};\n'.repeat(4)}`, { runPeriod: ['};'] }],
  [
    'lines of 512 characters are long, of 511 not',
    `${'a'.repeat(511)}\n${'b'.repeat(512)}\n${'c'.repeat(600)} \nrow\n`,
    { longLines: ['b'.repeat(512), 'c'.repeat(600)] },
  ],
  ['line endings', 'a\r\nb\r\n', { eol: 'crlf' }],
])('%s', (_, saved, facts) => {
  expect(groundOf(saved)).toMatchObject(facts);
});

test('the anchor’s lines end with a line that is not blank, each without blanks at its end', () => {
  const characters = (text: string, inOpenLine: boolean): Anchor => ({
    kind: 'characters',
    text,
    repetitive: false,
    inOpenLine,
  });
  const linesOf = (anchor: Anchor): readonly string[] => groundOf(SAVED, anchor).anchorLines;
  expect(linesOf(characters('a \n b\t\n\n  \n', false))).toEqual(['a', ' b']);
  expect(linesOf(characters('a \n b', false))).toEqual(['a', ' b']);
  expect(linesOf(characters('a \n b', true))).toEqual(['a']);
  expect(linesOf(characters('b', true))).toEqual([]);
  expect(linesOf(characters('a\n\n\nb', true))).toEqual(['a']);
});

test('openings are admitted by what stands before them and by how much ink they have', () => {
  const chat = { ...emptyPreamble, text: 'Here:\n', chatLines: 1 };
  const blank = { ...emptyPreamble, hasBlankLine: true };
  const fence = {
    ...emptyPreamble,
    text: '```\n',
    fence: { character: '`', length: 3, info: '' },
  } as const;
  const count = (saved: string): readonly number[] =>
    [emptyPreamble, fence, blank, chat].map(
      (preamble) => admittedOpenings(groundOf(saved), preamble).length,
    );
  // All that is saved is one open line.
  expect(count('o'.repeat(24))).toEqual([1, 1, 1, 1]);
  expect(count('o'.repeat(23))).toEqual([1, 1, 1, 0]);
  // It stands behind lines.
  expect(count(SAVED + 'o'.repeat(24))).toEqual([1, 1, 0, 0]);
  expect(count(SAVED + 'o'.repeat(23))).toEqual([0, 0, 0, 0]);
  // Another line begins in the same way.
  expect(count(`${'o'.repeat(30)}\n${SAVED}${'o'.repeat(24)}`)).toEqual([0, 0, 0, 0]);
});

test('an overlap counts lines, ink up to 24, and line endings', () => {
  const ground = groundOf(SAVED);
  const start = startOverlap(ground, emptyPreamble);
  expect(start).toEqual({
    preamble: emptyPreamble,
    inTail: 0,
    inAnchor: 0,
    restart: null,
    lines: 0,
    ink: 0,
    lineFeeds: 0,
    carriageReturnLineFeeds: 0,
  });
  const one = extendOverlap(ground, start, `${ROWS[1]}\r`, true);
  expect(one).toEqual({
    overlap: { ...start, inTail: 2, inAnchor: null, lines: 1, ink: 10, carriageReturnLineFeeds: 1 },
    completed: null,
  });
  const two = extendOverlap(ground, one.overlap, `${ROWS[2]} `, true);
  expect(two.overlap).toMatchObject({
    lines: 2,
    ink: 20,
    lineFeeds: 1,
    carriageReturnLineFeeds: 1,
  });
  const three = extendOverlap(ground, two.overlap, ROWS[3] ?? '', true);
  expect(three.overlap).toMatchObject({ lines: 3, ink: 30, lineFeeds: 2 });
  const four = extendOverlap(ground, three.overlap, `${ROWS[4]}\r`, false);
  // An end of the message is no line ending, and enough ink is enough.
  expect(four.overlap).toMatchObject({
    lines: 4,
    ink: 30,
    lineFeeds: 2,
    carriageReturnLineFeeds: 1,
  });
  const lost = extendOverlap(ground, four.overlap, 'another', true);
  expect(lost).toMatchObject({
    overlap: { inTail: null, inAnchor: null, restart: null },
    completed: null,
  });
  expect(isLive(lost.overlap)).toBe(false);
  expect(isLive({ ...lost.overlap, inTail: 0 })).toBe(true);
  expect(isLive({ ...lost.overlap, inAnchor: 0 })).toBe(true);
});

test.each<[string, readonly string[], readonly (Via | null)[], boolean]>([
  ['the anchor', ROWS.slice(-3), [null, null, 'anchor'], false],
  ['less than the anchor', ROWS.slice(-2), [null, null], false],
  ['more than the anchor', ROWS.slice(-4), [null, null, null, 'anchor'], false],
  ['not up to the end', ROWS.slice(-3, -1), [null, null], true],
  ['another line within', [ROWS[6] ?? '', 'x', ROWS[8] ?? ''], [null, null, null], false],
])('the anchor by lines: %s', (_, lines, completed, live) => {
  const read = overlapOf(groundOf(SAVED), lines);
  expect(read.completed).toEqual(completed);
  expect(isLive(read.overlap)).toBe(live);
});

test.each<[string, string, string, Via | null]>([
  ['24 ink', 'before\n', 'e'.repeat(24), 'tail'],
  ['23 ink', 'before\n', 'e'.repeat(23), null],
  ['a line that stands twice', `${'e'.repeat(24)}\nbefore\n`, 'e'.repeat(24), null],
])('less than the anchor, with %s', (_, before, line, via) => {
  const ground = groundOf(`${SAVED}${before}${line}\n`);
  expect(ground.anchorLines.length).toBeGreaterThan(1);
  expect(overlapOf(ground, [line]).completed).toEqual([via]);
});

test('less than the anchor, with the ink of the open line', () => {
  const completedBy = (open: number, preamble = emptyPreamble): Via | null => {
    const ground = groundOf(`${SAVED}zero\none two six\n${'o'.repeat(open)}`);
    return extendOverlap(ground, startOverlap(ground, preamble), 'one two six', true).completed;
  };
  expect(completedBy(14)).toBeNull();
  expect(completedBy(15)).toBe('tail');
  expect(completedBy(15, { ...emptyPreamble, hasBlankLine: true })).toBeNull();
  expect(completedBy(15, { ...emptyPreamble, chatLines: 1 })).toBeNull();
  expect(completedBy(15, { ...emptyPreamble, text: '<tail-7f3a>\n', hasTag: true })).toBe('tail');
});

test('all of a short file is a restart, unless it is the anchor', () => {
  expect(overlapOf(groundOf(SAVED), ROWS).completed.at(-1)).toBe('restart');
  expect(overlapOf(groundOf(`\n\n${SAVED}`), ROWS).completed.at(-1)).toBe('restart');
  expect(overlapOf(groundOf(`one\ntwo\n`), ['one', 'two']).completed).toEqual([null, 'anchor']);
});

test('only the anchor’s first line may lack its indentation, or part of it', () => {
  const lines = ['    first line of it', '    second line of it'];
  const ground = groundOf(`zero\n${lines.join('\n')}\n`);
  expect(ground.anchorLines).toEqual(lines);
  const second = lines[1] ?? '';
  expect(overlapOf(ground, ['first line of it', second]).completed).toEqual([null, 'anchor']);
  expect(overlapOf(ground, ['  first line of it', second]).completed).toEqual([null, 'anchor']);
  expect(overlapOf(ground, ['\tfirst line of it', second]).completed).toEqual([null, null]);
  expect(overlapOf(ground, ['      first line of it', second]).completed).toEqual([null, null]);
  expect(overlapOf(ground, ['line of it', second]).completed).toEqual([null, null]);
  expect(overlapOf(ground, ['first line of it', 'second line of it']).completed).toEqual([
    null,
    null,
  ]);
});

test('a line that has not ended may become one that is expected, and no other', () => {
  const ground = groundOf(`zero\n    first line of it\n    second line of it\n`);
  const start = startOverlap(ground, emptyPreamble);
  const may = (overlap: Overlap, part: string): boolean => mayBecomeNextLine(ground, overlap, part);
  expect(may(start, '')).toBe(true);
  expect(may(start, 'ze')).toBe(true);
  expect(may(start, 'zero ')).toBe(true);
  expect(may(start, 'zeros')).toBe(false);
  expect(may(start, '    second')).toBe(true);
  expect(may(start, 'second')).toBe(false);
  expect(may(start, 'first li')).toBe(true);
  const inAnchor = { ...start, inTail: null };
  expect(may(inAnchor, 'ze')).toBe(false);
  expect(may(inAnchor, '    fir')).toBe(true);
  expect(may(inAnchor, ' fir')).toBe(true);
  expect(may({ ...inAnchor, inAnchor: 1 }, '    sec')).toBe(true);
  expect(may({ ...inAnchor, inAnchor: 1 }, 'sec')).toBe(false);
  expect(may({ ...inAnchor, inAnchor: null }, '    fir')).toBe(false);
});

test('a long line that has not ended is compared with long ones alone', () => {
  const ground = groundOf(`${'a'.repeat(511)}\n${'b'.repeat(513)}\nrow one\n`);
  const overlap = { ...startOverlap(ground, emptyPreamble), inAnchor: null };
  expect(mayBecomeNextLine(ground, overlap, 'b'.repeat(511))).toBe(true);
  expect(mayBecomeNextLine(ground, overlap, 'b'.repeat(512))).toBe(true);
  expect(mayBecomeNextLine(ground, overlap, 'b'.repeat(514))).toBe(false);
  expect(mayBecomeNextLine(ground, overlap, 'a'.repeat(512))).toBe(false);
  expect(mayBecomeNextLine(ground, overlap, 'a'.repeat(511))).toBe(true);
});

const LONG_ROWS = Array.from({ length: 9_000 }, (_, index) => `a row with the number ${index + 1}`);

test.each([
  ['with blank lines before and behind', 2, 3],
  ['without them', 0, 0],
])('a file longer than the tail is begun again, %s', (_, before, behind) => {
  const text = `${'\n'.repeat(before)}${LONG_ROWS.join('\n')}\n${'\n'.repeat(behind)}`;
  const summary = appendToSummary(createSummary(), text);
  const ground = groundOf(text);
  expect(contentEndOf(summary).firstLine).toBeNull();
  const { restart } = ground;
  expect(restart).toMatchObject({
    start: { offset: before, hash: { lines: before } },
    lines: 9_000 + before,
    blankLinesBehind: behind,
    key: prefixHashKey(summary.prefix.current),
  });
  expect(restart?.head).toBe(summary.prefix.head);
  expect(restart?.checkpoints).toEqual(summary.prefix.checkpoints);

  const { overlap, completed } = overlapOf(ground, LONG_ROWS);
  expect(completed.slice(0, -1).every((via) => via === null)).toBe(true);
  expect(completed.at(-1)).toBe('restart');
  expect(overlap.lines).toBe(9_000);
  expect(overlap.restart === null || isLive(overlap)).toBe(true);

  // Another line: among the first, and beyond what is kept of them, where each 64th line is looked at.
  const early = overlapOf(ground, [LONG_ROWS[0] ?? '', 'another']);
  expect(early.overlap.restart).toBeNull();
  const late = [...LONG_ROWS.slice(0, 700), 'another', ...LONG_ROWS.slice(701, 768)];
  const upTo = (count: number): boolean =>
    overlapOf(ground, late.slice(0, count)).overlap.restart !== null;
  expect(upTo(703 - before)).toBe(true);
  expect(upTo(704 - before)).toBe(false);
});
