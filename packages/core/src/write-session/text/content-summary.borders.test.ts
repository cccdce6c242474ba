import { describe, expect, test } from 'vitest';
import {
  appendToSummary,
  beginningOfMarker,
  createSummary,
  eolOf,
  extendPrefixHash,
  prefixHashKey,
  restartSummary,
  tailOf,
} from './content-summary.ts';
import { hashLines } from './testing/hash-lines.ts';
import type { ContentSummary } from './content-summary.ts';

/** Hazard: what is known of the content is cut one character too early or too late, or counted twice. */

function summaryOf(...pieces: readonly string[]): ContentSummary {
  let summary = createSummary();
  for (const piece of pieces) summary = appendToSummary(summary, piece);
  return summary;
}

describe('loops of a shell', () => {
  test.each<[string, number]>([
    ['do\n', 1],
    ['do', 0],
    ['  do \t\r\n', 1],
    ['x; do\n', 1],
    ['x;do\n', 1],
    ['x\tdo \n', 1],
    ['while x do\n', 1],
    ['undo\n', 0],
    ['x-do\n', 0],
    ['to\n', 0],
    ['o\n', 0],
    ['xo\n', 0],
    ['do x\n', 0],
    ['Do\n', 0],
    ['done\n', -1],
    ['done', 0],
    [' \t done\n', -1],
    ['done \r\n', -1],
    ['done\tx\n', -1],
    ['done;\n', -1],
    ['done|x\n', -1],
    ['done&\n', -1],
    ['done<x\n', -1],
    ['done>x\n', -1],
    ['done)\n', -1],
    ['done.\n', 0],
    ['doner\n', 0],
    ['x done\n', 0],
    ['xdone\n', 0],
    ['Done\n', 0],
    ['DONE\n', 0],
    ['done; do\n', 1],
    ['for a\ndo\n  b\ndone\n', 0],
    ['do\ndo\ndone\n', 1],
    ['\n\n', 0],
  ])('%j changes how many are open by %d', (text, loops) => {
    expect(summaryOf(text).openLoops).toBe(loops);
    expect(summaryOf(...text).openLoops).toBe(loops);
    expect(summaryOf('do\n', text).openLoops).toBe(loops + 1);
    for (let at = 1; at < text.length; at += 1)
      expect(summaryOf(text.slice(0, at), text.slice(at)).openLoops).toBe(loops);
  });

  test('the end of a long line opens one, and what is kept of it closes none', () => {
    const long = 'x'.repeat(9_000);
    expect(summaryOf(long, ' do', '\n').openLoops).toBe(1);
    expect(summaryOf(long, ' do', ' ', '\n').openLoops).toBe(1);
    // The window of 9,000 characters begins at the 809th.
    expect(summaryOf(`${'x'.repeat(808)}done${' '.repeat(8_188)}`, '\n').openLoops).toBe(0);
    expect(summaryOf(`done${' '.repeat(8_187)}`, '\n').openLoops).toBe(-1);
  });
});

test.each<[number, number]>([
  [4_095, 4_095],
  [4_096, 4_096],
  [8_191, 8_191],
  [8_192, 4_096],
  [8_193, 4_097],
  [12_287, 8_191],
  [12_288, 4_096],
])('of an open line of %d characters %d are kept', (length, kept) => {
  const line = Array.from({ length }, (_, index) => String(index % 10)).join('');
  for (const summary of [
    summaryOf(line),
    summaryOf(`\n${line}`),
    summaryOf(line.slice(0, 100), line.slice(100)),
  ]) {
    expect(summary.openLine).toBe(line.slice(-kept));
    expect(summary.openLineLength).toBe(length);
  }
});

test('the first lines are kept up to 16,384 characters, and never after one that is missing', () => {
  const headOf = (...pieces: readonly string[]): readonly [number, boolean] => {
    const { head, headIsClosed } = summaryOf(...pieces).prefix;
    return [head.length, headIsClosed];
  };
  const line = (length: number): string => `${'a'.repeat(length - 1)}\n`;
  expect(headOf(line(8_192))).toEqual([8_192, false]);
  expect(headOf(line(8_193))).toEqual([0, true]);
  expect(headOf(line(8_192), line(8_192))).toEqual([16_384, false]);
  expect(headOf(line(8_192) + line(8_192))).toEqual([16_384, false]);
  expect(headOf(line(8_192), line(8_191), line(2))).toEqual([16_383, true]);
  expect(headOf(line(8_192), line(8_192), '\n')).toEqual([16_384, true]);
  expect(headOf(line(8_193), 'a\n')).toEqual([0, true]);
  expect(headOf('a'.repeat(8_000), 'b'.repeat(191), '\n')).toEqual([8_192, false]);
  expect(headOf('a'.repeat(8_000), 'b'.repeat(192), '\n')).toEqual([0, true]);
  expect(summaryOf('one\n', 'tw', 'o\nthree').prefix.head).toBe('one\ntwo\n');
});

test('each 64th line has a checkpoint', () => {
  const lines = Array.from({ length: 130 }, (_, index) => `line ${index} `);
  const keyOf = (count: number): string => prefixHashKey(hashLines(lines.slice(0, count)));
  const checkpointsOf = (count: number): readonly string[] =>
    summaryOf(...lines.slice(0, count).map((line) => `${line}\n`)).prefix.checkpoints;
  expect(checkpointsOf(63)).toEqual([]);
  expect(checkpointsOf(64)).toEqual([keyOf(64)]);
  expect(checkpointsOf(130)).toEqual([keyOf(64), keyOf(128)]);
  expect(summaryOf(`${lines.join('\n')}\n`).prefix.checkpoints).toEqual([keyOf(64), keyOf(128)]);
});

test('a hash speaks of each character, of where lines end, and of their order', () => {
  expect(prefixHashKey(hashLines([]))).toBe('0:811c9dc5:2545f491');
  const keys = [['ab'], ['a', 'b'], ['ba'], ['b', 'a'], ['ab', ''], ['', 'ab'], ['abb'], []].map(
    (lines) => prefixHashKey(hashLines(lines)).replace(/^\d+:/u, ''),
  );
  expect(new Set(keys.map((key) => key.split(':')[0])).size).toBe(8);
  expect(new Set(keys.map((key) => key.split(':')[1])).size).toBe(8);
  expect(hashLines(['a \t\r'])).toEqual(hashLines(['a']));
  expect(extendPrefixHash(hashLines(['a']), 'b')).toEqual(hashLines(['a', 'b']));
});

test.each<[string, string]>([
  ['', 'none'],
  ['a\r', 'none'],
  ['a\n', 'lf'],
  ['a\r\n', 'crlf'],
  ['\r\n\r\n', 'crlf'],
  ['\r\n\n', 'mixed'],
  ['\n\r\n', 'mixed'],
])('the line ending of %j is %s', (text, eol) => {
  expect(eolOf(summaryOf(text))).toBe(eol);
  expect(eolOf(summaryOf(...text))).toBe(eol);
});

test('a marker can begin in an open line of up to nine characters', () => {
  expect(beginningOfMarker(summaryOf('a\nDONE 7f3a'))).toBe('DONE 7f3a');
  expect(beginningOfMarker(summaryOf('a\nDONE 7f3ab'))).toBe('');
  expect(beginningOfMarker(summaryOf('a\n'))).toBe('');
});

test('the tail is the last 131,072 characters, in blocks of 4,096', () => {
  const text = Array.from({ length: 14_000 }, (_, index) => String(index).padStart(10, '0')).join(
    '',
  );
  const summary = summaryOf(text);
  expect(tailOf(summary)).toBe(text.slice(-131_072));
  expect(summary.tail.blocks).toHaveLength(32);
  expect(summary.tail.open).toHaveLength(140_000 % 4_096);
  expect(summaryOf('a'.repeat(4_095)).tail).toEqual({ blocks: [], open: 'a'.repeat(4_095) });
  const codes = (block: string): Uint16Array =>
    Uint16Array.from(block, (character) => character.charCodeAt(0));
  expect(summaryOf('a'.repeat(4_096)).tail).toEqual({
    blocks: [codes('a'.repeat(4_096))],
    open: '',
  });
  expect(summaryOf('a'.repeat(4_000), '\ud83d'.repeat(97)).tail).toEqual({
    blocks: [codes('a'.repeat(4_000) + '\ud83d'.repeat(96))],
    open: '\ud83d',
  });
});

test('bytes are those of the file, also where a pair comes in two pieces', () => {
  const bytesOf = (...pieces: readonly string[]): number => summaryOf(...pieces).bytes;
  for (const text of [
    '\u007f',
    '\u0080',
    '\u07ff',
    '\u0800',
    '\uffff',
    '\u{1f600}',
    'a\n\u{1f600}\né',
  ])
    expect([bytesOf(text), bytesOf(...text.split(''))]).toEqual([
      Buffer.byteLength(text),
      Buffer.byteLength(text),
    ]);
  expect(bytesOf('\ud83d')).toBe(3);
  expect(bytesOf('\ude00\ud83d')).toBe(6);
  expect(bytesOf('\ud83d\n\ude00')).toBe(7);
  expect(bytesOf('\ud83da\ude00')).toBe(7);
  expect(bytesOf('\udbff', '\udfff')).toBe(4);
  expect(bytesOf('\ud800', '\udc00')).toBe(4);
});

test('begun anew, bytes and lines are counted on and all else is forgotten', () => {
  const before = summaryOf('```js\r\nx\ndo\nopen');
  expect(restartSummary(before)).toEqual({
    ...createSummary(),
    bytes: before.bytes,
    lineFeeds: 3,
    lineFeedsBefore: 3,
    carriageReturnLineFeeds: 1,
    openLineStart: before.bytes,
  });
  expect(appendToSummary(restartSummary(before), 'a\n')).toMatchObject({
    lineFeeds: 4,
    lineFeedsBefore: 3,
    openLineStart: before.bytes + 2,
  });
  expect(createSummary(7)).toMatchObject({ bytes: 7, openLineStart: 7, length: 0 });
});

test('a line is known by its first 400 characters, and a longer one is no fence', () => {
  const markOf = (line: string) => summaryOf(`${line}\n`).fences.firstLines[0];
  const fence = `\`\`\`${'x'.repeat(397)}`;
  expect(markOf(fence)).toMatchObject({
    text: fence,
    fence: { length: 3 },
    line: 1,
    start: 0,
    end: 401,
  });
  expect(markOf(`${fence}   `)).toMatchObject({ text: fence, fence: { length: 3 } });
  expect(markOf(`${fence}x`)).toMatchObject({ text: fence, fence: null });
  expect(
    summaryOf(fence.slice(0, 200), fence.slice(200), 'x\n').fences.firstLines[0],
  ).toMatchObject({
    text: fence,
    fence: null,
  });
  for (const indentation of ['', ' ', '  ', '   '])
    expect(markOf(`${indentation}~~~`)?.fence).toEqual({ character: '~', length: 3, info: '' });
  expect(markOf('    ~~~')?.fence).toBeNull();
});

test('six first lines, five last ones and four first fences are kept', () => {
  const text = Array.from({ length: 9 }, (_, index) => `\`\`\`l${index + 1}\n`).join('');
  for (const summary of [summaryOf(text), summaryOf(...text)]) {
    const { fences } = summary;
    const numbers = (marks: readonly { readonly line: number }[]): readonly number[] =>
      marks.map((mark) => mark.line);
    expect(numbers(fences.firstLines)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(numbers(fences.lastLines)).toEqual([5, 6, 7, 8, 9]);
    expect(numbers(fences.firstFences)).toEqual([1, 2, 3, 4]);
    expect(numbers(fences.open)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(fences).toMatchObject({ fenceCount: 9, openBeyond: 1, closedCount: 0 });
    expect(fences.lastFence?.line).toBe(9);
  }
});

test.each<[readonly string[], boolean]>([
  [[' \t\r\n '], false],
  [[' \n', ' '], false],
  [['a'], true],
  [['a\n'], true],
  [['a', ' '], true],
  [['a\n', '\n'], true],
  [['\na'], true],
  [['a', '\n \n'], true],
])('whether %j has a line that is not blank: %s', (pieces, has) => {
  expect(summaryOf(...pieces).hasNonBlankLine).toBe(has);
});
