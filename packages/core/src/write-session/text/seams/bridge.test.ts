import { expect, test } from 'vitest';
import { chooseAnchor } from './anchor.ts';
import { createBridgeReader, endBridge, readBridge } from './bridge.ts';
import type { BridgeVerdict } from './bridge.ts';
import { appendToSummary, createSummary } from '../content-summary.ts';
import { END_MARKER } from '../testing/continuation.ts';

/** Hazard: two parts are joined with something left out, doubled, or made up between them (R047, rule 9, P8). */

function rows(from: number, to: number, ending = '\n'): string {
  return Array.from(
    { length: to - from + 1 },
    (_, index) => `row ${String(from + index).padStart(3, '0')}${ending}`,
  ).join('');
}

function bridge(
  saved: string,
  pieces: readonly string[],
  headLines: readonly string[],
): BridgeVerdict {
  const summary = appendToSummary(createSummary(), saved);
  let reader = createBridgeReader({
    summary,
    anchor: chooseAnchor(summary),
    headLines,
    kind: 'code',
    endMarker: END_MARKER,
  });
  for (const piece of pieces) reader = readBridge(reader, piece);
  return endBridge(reader);
}

const HEAD = ['row 040', 'row 041'];

test.each([
  ['what lies between', `${rows(25, 41)}DONE\n`, rows(31, 39)],
  ['nothing between', `${rows(27, 30)}row 040\nrow 041\nDONE`, ''],
  ['more than was asked behind the head', `${rows(25, 60)}DONE\n`, rows(31, 39)],
  [
    'a polite sentence and a fence',
    `Here it is:\n\`\`\`\n${rows(25, 41)}\`\`\`\nDONE\n`,
    rows(31, 39),
  ],
  ['no marker', rows(25, 41).trimEnd(), rows(31, 39)],
])('joined: %s', (_, reply, content) => {
  const verdict = bridge(rows(1, 30), [reply], HEAD);
  expect(verdict).toMatchObject({ kind: 'joined', content });
  expect(bridge(rows(1, 30), reply.split(''), HEAD)).toEqual(verdict);
});

test('joined in the open line, with the line endings of what is saved', () => {
  expect(bridge(`${rows(1, 30, '\r\n')}row 0`, [rows(25, 41)], HEAD)).toMatchObject({
    kind: 'joined',
    content: `31\r\n${rows(32, 39, '\r\n')}`,
  });
});

test.each([
  ['it does not start at the anchor', rows(31, 41), HEAD, 'no_alignment'],
  ['it starts with less than the anchor', rows(30, 41), HEAD, 'no_alignment'],
  ['it does not reach the head', `${rows(25, 40)}DONE\n`, HEAD, 'head_not_reached'],
  ['it ends before the head', `${rows(25, 33)}DONE\n${rows(34, 41)}`, HEAD, 'head_not_reached'],
  ['it reaches the head twice', rows(25, 41) + rows(40, 41), HEAD, 'head_repeated'],
  ['more than 60 lines between', rows(25, 101), ['row 100', 'row 101'], 'bridge_too_long'],
  ['only a marker', 'DONE\n', HEAD, 'no_bridge'],
  ['no head to reach', rows(25, 41), [], 'no_head_lines'],
])('failed: %s', (_, reply, head, reason) => {
  expect(bridge(rows(1, 30), [reply], head)).toEqual({ kind: 'failed', reason });
  expect(bridge(rows(1, 30), reply.split(''), head)).toEqual({ kind: 'failed', reason });
});
