import { expect, test } from 'vitest';
import { chooseAnchor } from './anchor.ts';
import { createBridgeReader, endBridge, readBridge } from './bridge.ts';
import type { BridgeReader } from './bridge.ts';
import { MAX_HELD } from './seam-reader.ts';
import { appendToSummary, createSummary } from '../content-summary.ts';

/** Hazard: a bridge one line or character too long, or one that its defaults read in another way. */

const ROWS = Array.from({ length: 6 }, (_, index) => `row number ${index + 1}\n`);
const SAVED = ROWS.join('');
const ANCHOR = ROWS.slice(-3).join('');
const HEAD = ['head one', 'head two'];

function readerOf(
  saved: string,
  options: Partial<Parameters<typeof createBridgeReader>[0]> = {},
): BridgeReader {
  const summary = appendToSummary(createSummary(), saved);
  return createBridgeReader({
    summary,
    anchor: chooseAnchor(summary),
    headLines: HEAD,
    ...options,
  });
}

function verdictOf(reply: readonly string[] | string, saved = SAVED): ReturnType<typeof endBridge> {
  let reader = readerOf(saved, { kind: 'code', endMarker: 'DONE 7f3a' });
  for (const piece of typeof reply === 'string' ? [reply] : reply)
    reader = readBridge(reader, piece);
  return endBridge(reader);
}

test('a bridge has up to 60 lines', () => {
  const lines = (count: number): string =>
    Array.from({ length: count }, (_, index) => `between ${index}\n`).join('');
  expect(verdictOf(`${ANCHOR}${lines(60)}head one\nhead two\n`)).toEqual({
    kind: 'joined',
    content: lines(60),
    linesDropped: 3,
  });
  expect(verdictOf(`${ANCHOR}${lines(61)}head one\nhead two\n`)).toEqual({
    kind: 'failed',
    reason: 'bridge_too_long',
  });
});

test('behind the anchor as much is read as a seam may hold', () => {
  const begun = readBridge(readerOf(SAVED), `${ANCHOR}between the two\n\nhead one\nhead two\n`);
  const { joined } = begun;
  expect(joined).not.toBeNull();
  const left = MAX_HELD - (joined?.rest.length ?? 0);
  expect(endBridge(readBridge(begun, 'x'.repeat(left)))).toMatchObject({ kind: 'joined' });
  const beyond = readBridge(begun, 'x'.repeat(left + 1));
  expect(beyond).toMatchObject({ joined: null, failed: 'bridge_too_long' });
  // Nothing more is read.
  expect(readBridge(beyond, 'more')).toBe(beyond);
  expect(endBridge(beyond)).toEqual({ kind: 'failed', reason: 'bridge_too_long' });
});

test.each([
  ['the head on the line behind the open one', 'op', 'open\nhead one\nhead two\n', 'en\n'],
  ['a marker in the open line is content', 'x', 'xDONE\nhead one\nhead two\n', 'DONE\n'],
  ['blanks at the end of head lines', '', 'head one \nhead two\t\r\n', ''],
])('joined: %s', (_, open, rest, content) => {
  expect(verdictOf(`${ANCHOR}${rest}`, SAVED + open)).toMatchObject({ kind: 'joined', content });
});

test.each([
  [
    'the head behind a marker',
    `${ANCHOR}between\nDONE 7f3a\nhead one\nhead two\n`,
    'head_not_reached',
  ],
  ['half of the head', `${ANCHOR}between\nhead one\nhead\n`, 'head_not_reached'],
  ['a blank reply', ' \n', 'no_bridge'],
  ['a marker alone', 'DONE 7f3a', 'no_bridge'],
  ['another text', 'other\nhead one\nhead two\n', 'no_alignment'],
])('failed: %s', (_, reply, reason) => {
  expect(verdictOf(reply)).toEqual({ kind: 'failed', reason });
});

test('less than the anchor does not do for a bridge', () => {
  const saved = `${SAVED}zero\n${'e'.repeat(30)}\n`;
  expect(verdictOf(`${'e'.repeat(30)}\nbetween\nhead one\nhead two\n`, saved)).toEqual({
    kind: 'failed',
    reason: 'anchor_not_whole',
  });
});

test('a bridge is read as Markdown without a kind, and with the bare end marker', () => {
  const reader = readerOf(`${SAVED}\`\`\`\n${SAVED}`, { headLines: ['head one\r', 'head two '] });
  expect(reader).toMatchObject({
    headLines: HEAD,
    endMarker: 'DONE',
    endsInOpenLine: false,
    endsInCarriageReturn: false,
    joined: null,
    failed: null,
    seam: { readToEnd: false, context: { kind: 'markdown', endMarker: 'DONE' } },
  });
  expect(readerOf(`${SAVED}open\r`)).toMatchObject({
    endsInOpenLine: true,
    endsInCarriageReturn: true,
  });
  expect(readerOf(SAVED, { headLines: [] }).failed).toBe('no_head_lines');
});
