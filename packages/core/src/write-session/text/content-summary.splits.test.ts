import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  CHECKPOINT_LINES,
  OPEN_LINE_WINDOW,
  TAIL_BLOCK,
  TAIL_WINDOW,
  appendToSummary,
  createSummary,
  emptyPrefixHash,
  eolOf,
  extendPrefixHash,
  prefixHashKey,
  restartSummary,
  tailOf,
  type ContentSummary,
} from './content-summary.ts';
import { hashLines } from './testing/hash-lines.ts';
import { isBlankLine, trimLine } from './lines.ts';
import { dividedText, hazardousTexts, unitsOf } from './testing/splits.ts';

function summaryOf(pieces: readonly string[]): ContentSummary {
  let summary = createSummary();
  for (const piece of pieces) summary = appendToSummary(summary, piece);
  return summary;
}

function keptOf({ tail }: ContentSummary): string {
  return tail.blocks.map((codes) => String.fromCharCode(...codes)).join('') + tail.open;
}

/** The same facts, told from the whole text. */
function expectFacts(summary: ContentSummary, text: string): void {
  const lines = text.split('\n');
  const open = lines.pop() ?? '';
  expect(summary.length).toBe(text.length);
  expect(summary.bytes).toBe(Buffer.byteLength(text));
  expect(summary.lineFeeds).toBe(lines.length);
  expect(summary.carriageReturnLineFeeds).toBe(lines.filter((line) => line.endsWith('\r')).length);
  expect(summary.hasNonBlankLine).toBe(![...lines, open].every(isBlankLine));
  expect(summary.openLineLength).toBe(open.length);
  expect(summary.openLineStart).toBe(Buffer.byteLength(text.slice(0, text.length - open.length)));
  expect(open.endsWith(summary.openLine)).toBe(true);
  expect(summary.openLine.length).toBeGreaterThanOrEqual(Math.min(open.length, OPEN_LINE_WINDOW));
  expect(tailOf(summary)).toBe(text.slice(-TAIL_WINDOW));
  const kept = keptOf(summary);
  expect(text.endsWith(kept)).toBe(true);
  expect(kept.length).toBeGreaterThanOrEqual(Math.min(text.length, TAIL_WINDOW));
  expect(summary.prefix.current).toEqual(hashLines(lines));
  expect(text.startsWith(summary.prefix.head)).toBe(true);
  const checkpoints: string[] = [];
  let hash = emptyPrefixHash;
  for (const line of lines) {
    hash = extendPrefixHash(hash, line);
    if (hash.lines % CHECKPOINT_LINES === 0) checkpoints.push(prefixHashKey(hash));
  }
  expect(summary.prefix.checkpoints).toEqual(checkpoints);
}

describe('C1: every division gives the same summary', () => {
  test('of texts full of hazards', () => {
    fc.assert(
      fc.property(dividedText(hazardousTexts), ({ text, pieces }) => {
        const whole = summaryOf([text]);
        expectFacts(whole, text);
        expect(summaryOf(pieces)).toEqual(whole);
        expect(summaryOf(unitsOf(text))).toEqual(whole);
      }),
      { numRuns: 1_000 },
    );
  });

  test('of any code units', () => {
    const texts = fc.uint16Array({ maxLength: 12 }).map((codes) => String.fromCharCode(...codes));
    fc.assert(
      fc.property(dividedText(texts), ({ text, pieces }) => {
        const whole = summaryOf([text]);
        expectFacts(whole, text);
        expect(summaryOf(pieces)).toEqual(whole);
      }),
    );
  });

  test.each([
    ['many lines', 'const value = "😀é";\r\n\n  two\n'.repeat(8_000)],
    ['one line', 'a😀é '.repeat(35_000)],
    ['lines longer than every window', `${'x'.repeat(9_000)}\n`.repeat(60)],
    ['a long line of blanks', `a\n${' '.repeat(20_000)}\n\n${'\t'.repeat(9_000)}b`],
    ['a text as long as the tail', 'y'.repeat(2 * TAIL_WINDOW)],
  ])('C2: of a text longer than the windows: %s', (_name, text) => {
    const whole = summaryOf([text]);
    expectFacts(whole, text);
    for (const size of [1, 7, 24, 4_096, 6_000, 131_072]) {
      // Whole text one character at a time is slow to compare, not to read; its start is enough.
      const part = size === 1 ? text.slice(0, 40_000) : text;
      const pieces = Array.from({ length: Math.ceil(part.length / size) }, (_, index) =>
        part.slice(index * size, (index + 1) * size),
      );
      const summary = summaryOf(pieces);
      expect(summary).toEqual(size === 1 ? summaryOf([part]) : whole);
      expect(keptOf(summary).length).toBeLessThan(TAIL_WINDOW + TAIL_BLOCK);
      expect(summary.openLine.length).toBeLessThan(2 * OPEN_LINE_WINDOW);
    }
  });
});

test('C4: a pair in two pieces has four bytes, a lone half three', () => {
  expect(summaryOf(['\ud83d']).bytes).toBe(3);
  expect(summaryOf(['\ud83d', '\ude00']).bytes).toBe(4);
  expect(summaryOf(['\ud83d', '\n\ude00']).bytes).toBe(7);
  expect(summaryOf(['\ud83d', '\ud83d', '\ude00']).bytes).toBe(7);
  expect(summaryOf([`${'é'.repeat(9_000)}\ud83d`, '\ude00']).bytes).toBe(18_004);
});

test(
  'C2: the summary of 8 MB stays small, in small pieces and in large ones (C3)',
  { tags: ['long'] },
  () => {
    const text = 'const value = compute(1);\n'.repeat(16);
    let summary = createSummary();
    for (let count = 0; count < 20_000; count += 1) summary = appendToSummary(summary, text);
    expect(summary.bytes).toBe(20_000 * text.length);
    expect(JSON.stringify({ ...summary, tail: keptOf(summary) }).length).toBeLessThan(600_000);
  },
);

describe('the prefix ledger', () => {
  test('compares lines without their trailing blanks', () => {
    const left = summaryOf(['one  \ntwo\r\n\n']);
    const right = summaryOf(['one\ntwo\n \t\n']);
    expect(left.prefix.current).toEqual(right.prefix.current);
    expect(prefixHashKey(left.prefix.current)).toBe(prefixHashKey(hashLines(['one', 'two', ''])));
    expect(left.prefix.current).not.toEqual(summaryOf(['one\n two\n\n']).prefix.current);
  });

  test('tells lines apart by where they end', () => {
    const keys = [['ab'], ['a', 'b'], ['', 'ab'], ['ab', ''], ['ba']].map((lines) =>
      prefixHashKey(hashLines(lines)),
    );
    expect(new Set(keys).size).toBe(keys.length);
    expect(extendPrefixHash(emptyPrefixHash, 'a ')).toEqual(hashLines(['a']));
  });

  test('keeps whole first lines as they stand, and never one after a gap', () => {
    const summary = summaryOf(['a \r\n', 'b', 'c\n', 'open']);
    expect(summary.prefix).toMatchObject({ head: 'a \r\nbc\n', headIsClosed: false });
    const long = summaryOf(['a\n', 'x'.repeat(9_000), '\nb\n']);
    expect(long.prefix).toMatchObject({ head: 'a\n', headIsClosed: true });
    const many = summaryOf(['0123456\n'.repeat(3_000)]);
    expect(many.prefix.head).toBe('0123456\n'.repeat(2_048));
    expect(many.prefix.headIsClosed).toBe(true);
  });
});

test('eolOf', () => {
  expect(eolOf(summaryOf(['a\r']))).toBe('none');
  expect(eolOf(summaryOf(['a\n\r']))).toBe('lf');
  expect(eolOf(summaryOf(['a\r', '\n', '\r\n']))).toBe('crlf');
  expect(eolOf(summaryOf(['a\r\nb\n']))).toBe('mixed');
});

test('A18: only LF ends a line', () => {
  const summary = summaryOf(['a\u2028b\u2029c\u0085d\re\vf\f']);
  expect(summary.lineFeeds).toBe(0);
  expect(trimLine(summary.openLine)).toBe(summary.openLine);
});

test('R275: a summary that is restarted knows the text behind as if nothing stood before it, but for its place', () => {
  fc.assert(
    fc.property(hazardousTexts, hazardousTexts, (before, text) => {
      const restarted = appendToSummary(restartSummary(summaryOf([before])), text);
      const alone = summaryOf([text]);
      const start = summaryOf([before]);
      expect({ ...restarted, fences: alone.fences }).toEqual({
        ...alone,
        // A pair that was cut there counts its halves apart.
        bytes: start.bytes + alone.bytes,
        lineFeeds: start.lineFeeds + alone.lineFeeds,
        lineFeedsBefore: start.lineFeeds,
        carriageReturnLineFeeds: start.carriageReturnLineFeeds + alone.carriageReturnLineFeeds,
        openLineStart: start.bytes + alone.openLineStart,
      });
      expect(restarted.fences.firstLines).toEqual(
        alone.fences.firstLines.map((mark) => ({
          ...mark,
          line: start.lineFeeds + mark.line,
          start: start.bytes + mark.start,
          end: start.bytes + mark.end,
        })),
      );
    }),
    { numRuns: 300 },
  );
});
