import { expect, test } from 'vitest';
import { chooseAnchor } from './anchor.ts';
import { createSeamReader, endSeam, readSeam } from './seam-reader.ts';
import type { SeamReader } from './seam-reader.ts';
import { appendToSummary, createSummary } from '../content-summary.ts';
import { anchorFor, END_MARKER, readReply } from '../testing/continuation.ts';

/** Hazard: a text is looked at in other places than its own division gives, or a repetition is joined by guessing. */

const ROWS = Array.from({ length: 30 }, (_, index) => `row number ${index + 1}\n`);
const SAVED = ROWS.join('');
const ANCHOR = ROWS.slice(-3).join('');

function readerOf(saved: string, readToEnd = false): SeamReader {
  const summary = appendToSummary(createSummary(), saved);
  const anchor = chooseAnchor(summary);
  return createSeamReader({ summary, anchor, kind: 'code', endMarker: END_MARKER, readToEnd });
}

test('text is looked at behind each line ending and at each multiple of 512', () => {
  let reader = readerOf(`${'a'.repeat(3_000)}\n${SAVED}`);
  const offsets: (readonly [number, number])[] = [];
  for (const text of [
    'a'.repeat(511),
    'a',
    'a'.repeat(511),
    'a'.repeat(600),
    'a'.repeat(1_377),
    '\nro',
  ]) {
    const read = readSeam(reader, text);
    expect(read.verdict).toBeNull();
    ({ reader } = read);
    offsets.push([reader.offset, reader.unread.length]);
  }
  expect(offsets).toEqual([
    [0, 511],
    [512, 0],
    [512, 511],
    [1_536, 87],
    [2_560, 440],
    [3_001, 2],
  ]);
  const next = readSeam(reader, `${ROWS[0]?.slice(2)}x`).reader;
  expect([next.offset, next.unread]).toEqual([3_001 + (ROWS[0]?.length ?? 0), 'x']);
  expect(reader).toMatchObject({ line: '', isBlank: false, isMarkersOnly: false });
});

test('whether all of it is blank, or markers, is known from lines and from long parts of them', () => {
  const factsOf = (...pieces: readonly string[]): readonly boolean[] => {
    let reader = readerOf(SAVED);
    for (const piece of pieces) ({ reader } = readSeam(reader, piece));
    return [reader.isBlank, reader.isMarkersOnly];
  };
  expect(factsOf(' \n\n')).toEqual([true, true]);
  expect(factsOf('\nDONE\n')).toEqual([false, true]);
  expect(factsOf('DONE\n', '\n', ROWS[27] ?? '')).toEqual([false, false]);
  expect(factsOf(ROWS[27] ?? '', 'DONE\n')).toEqual([false, false]);
});

test.each<[string, string]>([
  ['', 'blank'],
  [' \n\t', 'blank'],
  ['DONE', 'marker_only'],
  ['\nDONE 7f3a\n \nDONE', 'marker_only'],
])('%j is %s', (reply, kind) => {
  expect(readReply(SAVED, reply)).toEqual({ kind });
  expect(readReply(SAVED, reply.split(''))).toEqual({ kind });
});

test('a hopeless reply is read on only where it is asked for, and stays hopeless', () => {
  const at = readSeam(readerOf(SAVED), 'import x\n');
  expect(at.verdict).toEqual({ kind: 'hopeless', reason: 'no_alignment' });
  const read = readSeam(readerOf(SAVED, true), `import x\n${ANCHOR}`);
  expect(read.verdict).toBeNull();
  expect(read.reader).toMatchObject({
    line: '',
    preamble: null,
    overlaps: [],
    continuations: [],
    hopeless: 'no_alignment',
  });
  expect(readSeam(read.reader, ANCHOR)).toEqual({ reader: read.reader, verdict: null });
  expect(endSeam(read.reader)).toEqual({ kind: 'hopeless', reason: 'no_alignment' });
});

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';

test.each<[string, string, string, object]>([
  [
    '24 ink of the open line once more, cut off',
    LETTERS,
    LETTERS + LETTERS.slice(0, 24),
    { kind: 'hopeless', reason: 'anchor_repeated' },
  ],
  [
    '23 ink of it',
    LETTERS,
    LETTERS + LETTERS.slice(0, 23),
    { kind: 'verified', rest: LETTERS.slice(0, 23), linesDropped: 1 },
  ],
  [
    'all of it once more',
    LETTERS,
    `${LETTERS}${LETTERS} and so on`,
    { kind: 'hopeless', reason: 'anchor_repeated' },
  ],
  [
    'the anchor and the open line once more, which goes on',
    `${SAVED}open line`,
    `${ANCHOR}open line\n${ANCHOR}open line goes on\n`,
    { kind: 'hopeless', reason: 'anchor_repeated' },
  ],
  [
    'the anchor and another line',
    `${SAVED}open line`,
    `${ANCHOR}open line\n${ANCHOR}another line\n`,
    { kind: 'verified', rest: `\n${ANCHOR}another line\n`, linesDropped: 4 },
  ],
  [
    'the anchor behind two lines between',
    SAVED,
    `${ANCHOR}So:\nAnd here:\n${ANCHOR}row number 31\n`,
    { kind: 'hopeless', reason: 'anchor_repeated' },
  ],
  [
    'the anchor behind three lines between',
    SAVED,
    `${ANCHOR}So:\nAnd here:\nAnd now:\n${ANCHOR}row number 31\n`,
    { kind: 'verified', linesDropped: 3 },
  ],
  [
    'the anchor behind another line',
    SAVED,
    `${ANCHOR}another line\n${ANCHOR}row number 31\n`,
    { kind: 'verified', rest: `another line\n${ANCHOR}row number 31\n` },
  ],
  [
    'two lines of the anchor once more, cut off',
    SAVED,
    `${ANCHOR}row number 28\nrow number 29\nro`,
    { kind: 'hopeless', reason: 'anchor_repeated' },
  ],
  [
    'one line of it, cut off',
    SAVED,
    `${ANCHOR}row number 28\nro`,
    { kind: 'verified', rest: 'row number 28\nro' },
  ],
  [
    'the anchor once more without a line ending',
    SAVED,
    ANCHOR + ANCHOR.slice(0, -1),
    { kind: 'hopeless', reason: 'anchor_repeated' },
  ],
])('rule 6: %s', (_, saved, reply, verdict) => {
  expect(readReply(saved, reply)).toMatchObject(verdict);
  expect(readReply(saved, reply.split(''))).toEqual(readReply(saved, reply));
});

test('rule 6: an anchor of characters that ends a line comes again only as a whole line', () => {
  const saved = `first\n${'word '.repeat(300)}1\n${'word '.repeat(300)}2\n`;
  const anchor = anchorFor(saved);
  const text = anchor.kind === 'characters' ? anchor.text : '';
  expect(text).not.toBe('');
  expect(readReply(saved, `${text}\n${text}\nmore\n`)).toEqual({
    kind: 'hopeless',
    reason: 'anchor_repeated',
  });
  expect(readReply(saved, `${text}\n${text}X\nmore\n`)).toMatchObject({
    kind: 'verified',
    rest: `${text}X\nmore\n`,
  });
});

test('rule 5: behind characters that repeat themselves, nothing that fits further back is joined', () => {
  const saved = LETTERS.slice(0, 10).repeat(500);
  const anchor = anchorFor(saved);
  const text = anchor.kind === 'characters' ? anchor.text : '';
  expect(anchor).toMatchObject({ kind: 'characters', repetitive: true });
  const rest = LETTERS.slice(0, 10);
  const start = saved.length - text.length;
  // What follows the anchor where it stands ten characters further back.
  expect(saved.slice(start - 10).startsWith(text + rest)).toBe(true);
  const several = { kind: 'hopeless', reason: 'several_alignments' };
  expect(readReply(saved, text + rest.slice(0, 3))).toEqual(several);
  expect(readReply(saved, `${text}${rest}!`)).toEqual(several);
  expect(readReply(saved, `${text}ab!`)).toMatchObject({ kind: 'verified', rest: 'ab!' });
  expect(readReply(saved, text)).toMatchObject({ kind: 'verified', rest: '' });
});
