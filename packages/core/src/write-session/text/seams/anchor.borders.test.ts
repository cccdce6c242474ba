import { expect, test } from 'vitest';
import type { Anchor } from './anchor.ts';
import { anchorFor } from '../testing/continuation.ts';

/** Hazard: an anchor one line, one character or one letter beyond what it may have, or short of what it needs. */

function linesAnchor(lines: readonly string[], facts: Partial<Anchor> = {}): Anchor {
  return {
    kind: 'lines',
    lines,
    blankLinesBehind: 0,
    openLine: '',
    repetitive: false,
    whole: false,
    ...facts,
  } as Anchor;
}

/** Lines that all differ, with this much ink each. */
function numbered(count: number, ink = 8): readonly string[] {
  return Array.from({ length: count }, (_, index) => String(index + 1).padStart(ink, 'x'));
}

function saved(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}

test.each<[string, string, Anchor]>([
  [
    'two lines with 24 ink',
    saved(['a', ...numbered(3, 12)]),
    linesAnchor(numbered(3, 12).slice(1)),
  ],
  [
    'two lines with 23 ink need a third',
    'a\nxxxxxxxxxxx1\nxxxxxxxxxxx2\nxxxxxxxxxx3\n',
    linesAnchor(['xxxxxxxxxxx1', 'xxxxxxxxxxx2', 'xxxxxxxxxx3']),
  ],
  [
    'one line with much ink needs a second',
    `a\nb\n${'c'.repeat(60)}\n`,
    linesAnchor(['b', 'c'.repeat(60)]),
  ],
  [
    'a blank line is no second line',
    `a\nb\n\n${'c'.repeat(60)}\n`,
    linesAnchor(['b', '', 'c'.repeat(60)]),
  ],
  [
    'blank lines behind are counted',
    `a\nb\n${'c'.repeat(60)}\n \n\nopen`,
    linesAnchor(['b', 'c'.repeat(60)], { blankLinesBehind: 2, openLine: 'open' }),
  ],
  [
    'from the first line on it is whole',
    `\n\nb\n${'c'.repeat(60)}\n`,
    linesAnchor(['b', 'c'.repeat(60)], { whole: true }),
  ],
  [
    'from the line behind the first it is not',
    `\na\nb\n${'c'.repeat(60)}\n`,
    linesAnchor(['b', 'c'.repeat(60)]),
  ],
])('%s', (_, text, anchor) => {
  expect(anchorFor(text)).toEqual(anchor);
});

test('24 lines may be taken, and no 25th', () => {
  const last = Array.from({ length: 23 }, (_, index) => `${index % 10}`);
  // All but the first of these lines have an ink of 23 together.
  expect(anchorFor(saved(['z', 'y', ...last]))).toEqual(linesAnchor(['y', ...last]));
  const longer = Array.from({ length: 24 }, (_, index) => (index === 9 ? '-' : `${index % 10}`));
  const anchor = anchorFor(saved(['z', 'y', ...longer]));
  expect(anchor).toEqual({
    kind: 'characters',
    text: saved(['z', 'y', ...longer]).slice(0, -1),
    repetitive: false,
    inOpenLine: false,
  });
});

test('2,000 characters with their line endings may be taken, and no 2,001st', () => {
  const line = 'c'.repeat(1_900);
  expect(anchorFor(saved(['a', 'b'.repeat(98), line]))).toEqual(
    linesAnchor(['b'.repeat(98), line]),
  );
  expect(anchorFor(saved(['a', 'b'.repeat(99), line]))).toMatchObject({ kind: 'characters' });
});

test('an open line of 400 characters stands behind lines, one of 401 does not', () => {
  const lines = numbered(4, 16);
  expect(anchorFor(saved(lines) + 'o'.repeat(400))).toEqual(
    linesAnchor(lines.slice(2), { openLine: 'o'.repeat(400) }),
  );
  expect(anchorFor(saved(lines) + 'o'.repeat(401))).toMatchObject({
    kind: 'characters',
    inOpenLine: true,
  });
});

test('a line that repeats needs eight lines and 48 ink in all', () => {
  const line = 'abcdef';
  expect(anchorFor(saved(Array.from({ length: 100 }, () => line)))).toEqual(
    linesAnchor(
      Array.from({ length: 24 }, () => line),
      { repetitive: true },
    ),
  );
  // Eight lines of up to 249 characters fit, and seven of 250 and more.
  const eight = 'e'.repeat(249);
  expect(anchorFor(saved(Array.from({ length: 100 }, () => eight)))).toEqual(
    linesAnchor(
      Array.from({ length: 8 }, () => eight),
      { repetitive: true },
    ),
  );
  const seven = 'e'.repeat(250);
  expect(anchorFor(saved(Array.from({ length: 100 }, () => seven)))).toMatchObject({
    kind: 'characters',
  });
  expect(anchorFor(saved(Array.from({ length: 100 }, () => 'ab;')))).toEqual(
    linesAnchor(
      Array.from({ length: 24 }, () => 'ab;'),
      { repetitive: true },
    ),
  );
  // 24 lines with an ink of 47 and with one of 48.
  const period = [...Array.from({ length: 23 }, () => 'ab'), 'a'];
  expect(anchorFor(saved(Array.from({ length: 10 }, () => period).flat()))).toMatchObject({
    kind: 'characters',
  });
});

test('lines that are unique only by their number are taken as far back as they go', () => {
  // Five equal lines behind another: each run of them is told apart from no longer one.
  expect(
    anchorFor(saved(['first line of it', ...Array.from({ length: 5 }, () => 'the same line')])),
  ).toEqual(
    linesAnchor(['first line of it', ...Array.from({ length: 5 }, () => 'the same line')], {
      whole: true,
    }),
  );
  expect(
    anchorFor(
      saved(['zero', 'first line of it', ...Array.from({ length: 5 }, () => 'the same line')]),
    ),
  ).toEqual(linesAnchor(['first line of it', ...Array.from({ length: 5 }, () => 'the same line')]));
});

/** A text of one line in which no 24 characters come twice. */
function words(count: number): string {
  return Array.from({ length: count }, (_, index) => `w${String(index).padStart(8, '0')}`).join(
    ' ',
  );
}

test.each<[string, string, string]>([
  // Of words of ten characters, 120 characters begin at a word.
  ['120 characters', words(100), words(100).slice(-119 - 10)],
  ['120 characters that begin with a blank', `${words(100)}.`, words(100).slice(-119) + '.'],
  ['one that begins within a word', `${words(100)}..`, words(100).slice(-119) + '..'],
])('an anchor of characters: %s', (_, text, expected) => {
  expect(anchorFor(text)).toEqual({
    kind: 'characters',
    text: expected,
    repetitive: false,
    inOpenLine: true,
  });
});

test('an anchor of characters reaches back 40 characters to begin with a word, and no further', () => {
  const before = `${words(60)} `;
  const textOf = (length: number): string =>
    `${before}${'q'.repeat(length)}${words(20).slice(0, 100)}`;
  const reached = anchorFor(textOf(60));
  expect(reached).toMatchObject({ text: `${'q'.repeat(60)}${words(20).slice(0, 100)}` });
  const cut = anchorFor(textOf(61));
  expect(cut).toMatchObject({ text: `${'q'.repeat(20)}${words(20).slice(0, 100)}` });
});

test('an anchor of characters has both halves of its first character', () => {
  const pairs = '\u{1f600}'.repeat(20);
  const end = words(20).slice(0, 99);
  // The 120th character from the end is the second half of a pair.
  const odd = `${'p'.repeat(300)}${pairs}${end}`;
  expect(anchorFor(odd)).toMatchObject({ text: '\u{1f600}'.repeat(11) + end });
  const even = `${'p'.repeat(300)}${pairs}q${end}`;
  expect(anchorFor(even)).toMatchObject({ text: `${'\u{1f600}'.repeat(10)}q${end}` });
  // A half that stands alone is a character of its own.
  const alone = `${'p'.repeat(300)}\ude00\ude00${'r'.repeat(20)}${end}`;
  expect(anchorFor(alone)).toMatchObject({ text: `\ude00${'r'.repeat(20)}${end}` });
});

test('an anchor of characters is as much longer as makes it unique, up to 960 characters', () => {
  const unit = `${'m'.repeat(450)}`;
  // Within 960 characters only the number of them tells, and the text before is another.
  const twice = `start ${unit} middle ${unit}`;
  expect(anchorFor(twice)).toEqual({
    kind: 'characters',
    text: `middle ${unit}`,
    repetitive: false,
    inOpenLine: true,
  });
  expect(anchorFor('a'.repeat(961))).toEqual({
    kind: 'characters',
    text: 'a'.repeat(960),
    repetitive: true,
    inOpenLine: true,
  });
  expect(anchorFor('a'.repeat(960))).toEqual({
    kind: 'characters',
    text: 'a'.repeat(960),
    repetitive: false,
    inOpenLine: true,
  });
});

test('an anchor of characters needs 24 ink', () => {
  const text = (ink: number): string => `${words(100)} ${'i'.repeat(ink)}${'-'.repeat(400)}`;
  expect(anchorFor(text(24))).toMatchObject({ text: `${'i'.repeat(24)}${'-'.repeat(400)}` });
  expect(anchorFor(text(23))).toMatchObject({
    text: `w00000099 ${'i'.repeat(23)}${'-'.repeat(400)}`,
  });
});
