import { expect, test } from 'vitest';
import { contentEndOf, repeatedRun } from './content-end.ts';
import type { ContentEnd } from './content-end.ts';
import { appendToSummary, createSummary, TAIL_WINDOW } from './content-summary.ts';

/** Hazard: the end of the content is divided in another way than the file has it, or counted as unique when it is not. */

function endOf(text: string): ContentEnd {
  return contentEndOf(appendToSummary(createSummary(), text));
}

const EMPTY: ContentEnd = {
  lines: [],
  trimmed: [],
  blankLinesBehind: 0,
  openLine: '',
  endsInCarriageReturn: false,
  openLineIsWhole: true,
  firstLine: 0,
  text: '',
};

test.each<[string, Partial<ContentEnd>]>([
  ['', {}],
  ['a', { openLine: 'a', text: 'a' }],
  ['a\r', { openLine: 'a', endsInCarriageReturn: true, text: 'a' }],
  ['a\n', { lines: ['a'], trimmed: ['a'], text: 'a' }],
  ['a \r\n', { lines: ['a \r'], trimmed: ['a'], text: 'a ' }],
  ['\n\n', { blankLinesBehind: 2 }],
  [
    '\n a \nb\n \n\n',
    {
      lines: ['', ' a ', 'b'],
      trimmed: ['', ' a', 'b'],
      blankLinesBehind: 2,
      firstLine: 1,
      text: '\n a \nb',
    },
  ],
  [
    'a\r\n\r\nopen\r',
    {
      lines: ['a\r'],
      trimmed: ['a'],
      blankLinesBehind: 1,
      openLine: 'open',
      endsInCarriageReturn: true,
      text: 'a\r\n\r\nopen',
    },
  ],
  ['a\n\r', { lines: ['a'], trimmed: ['a'], endsInCarriageReturn: true, text: 'a' }],
  [
    'a\n\n\r',
    { lines: ['a'], trimmed: ['a'], blankLinesBehind: 1, endsInCarriageReturn: true, text: 'a' },
  ],
])('the end of %j', (text, facts) => {
  expect(endOf(text)).toEqual({ ...EMPTY, ...facts });
});

test('a line that begins before the window is not among its lines', () => {
  const fill = (length: number): string => `${'a'.repeat(length - 5)}\nend\n`;
  const within = endOf(fill(TAIL_WINDOW));
  expect([within.firstLine, within.lines.length, within.openLineIsWhole]).toEqual([0, 2, true]);
  const beyond = endOf(fill(TAIL_WINDOW + 1));
  expect(beyond).toMatchObject({ firstLine: null, lines: ['end'], openLineIsWhole: true });
  expect(beyond.text).toHaveLength(TAIL_WINDOW - 1);
  expect(endOf('o'.repeat(TAIL_WINDOW))).toMatchObject({ openLineIsWhole: true, firstLine: 0 });
  expect(endOf('o'.repeat(TAIL_WINDOW + 1))).toMatchObject({
    openLineIsWhole: false,
    firstLine: null,
    lines: [],
  });
});

/** Said in its own words: the longest run of last lines that stands elsewhere, followed there by the open line. */
function longestRepeated(text: string): number {
  const { trimmed, lines, openLine } = endOf(text);
  const begins = (from: number): boolean => {
    const next = trimmed.findIndex((line, index) => index >= from && line !== '');
    return next !== -1 && (lines[next] ?? '').startsWith(openLine);
  };
  let longest = -1;
  for (let end = 0; end < trimmed.length; end += 1) {
    if (!begins(end)) continue;
    let length = 0;
    while (length < end && trimmed[end - 1 - length] === trimmed.at(-1 - length)) length += 1;
    longest = Math.max(longest, length);
  }
  return longest;
}

test('how many last lines stand elsewhere too, for every text of up to five short lines', () => {
  const different: string[] = [];
  const kinds = ['a', 'ab', ''];
  for (let number = 0; number < 3 ** 5; number += 1) {
    const lines = Array.from(
      { length: 5 },
      (_, index) => kinds[Math.floor(number / 3 ** index) % 3],
    );
    for (let from = 0; from < 5; from += 1)
      for (const open of ['', 'a', 'ab', 'b']) {
        const text = `${lines.slice(from).join('\n')}\n${open}`;
        if (repeatedRun(endOf(text)) !== longestRepeated(text)) different.push(text);
      }
  }
  expect(different).toEqual([]);
});

test.each([
  ['', -1],
  ['a', -1],
  ['a\n', 0],
  ['a\na', 0],
  ['a\nb', -1],
  ['a\na\n', 1],
  ['a\na\nb', -1],
  ['x\ny\nz\nx\ny\nz', 2],
  ['x\ny\nzz\nx\ny\nz', 2],
  ['x\ny\n\nz\nx\ny\nz', 2],
  [`${'a\n'.repeat(50)}`, 49],
  [`${'a\n'.repeat(50)}a`, 49],
  [`${'a\nb\n'.repeat(10)}`, 18],
])('of %j the longest run that stands elsewhere has %d lines', (text, run) => {
  expect(repeatedRun(endOf(text))).toBe(run);
});
