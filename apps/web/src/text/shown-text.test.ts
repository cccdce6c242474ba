import fc from 'fast-check';
import { expect, test } from 'vitest';

import { countUnseen, foldEmpty, isEmptyLine, partsOfLine } from './shown-text.ts';

const words = (line: string) =>
  partsOfLine(line).map((part) => (part.kind === 'text' ? part.text : part.count));

test('blanks that would push text out of sight are counted', () => {
  expect(words(`ls${' '.repeat(10_240)}; rm -rf ~`)).toEqual(['ls', 10_240, '; rm -rf ~']);
  expect(words(`${' '.repeat(80)}deep`)).toEqual([`${' '.repeat(80)}deep`]);
  expect(words(`${'\t'.repeat(81)}deeper${' '.repeat(90)}`)).toEqual([81, 'deeper', 90]);
  expect(words('')).toEqual(['']);
});

test('what is not seen is an escape, and a tab is seen', () => {
  expect(words('a\u202eb\u{e0041}\u200b\tc')).toEqual([
    String.raw`a\u{202e}b\u{e0041}\u{200b}` + '\tc',
  ]);
  expect(countUnseen('a\u202e\n\t\u200b\u{e0041} b')).toBe(3);
});

test('other blanks than spaces are escapes, so that they cannot pad either', () => {
  expect(words('\u00a0\u3000\u2800')).toEqual([String.raw`\u{a0}\u{3000}\u{2800}`]);
});

test('more than two empty lines are one entry', () => {
  const fold = (lines: readonly string[]) => foldEmpty(lines, isEmptyLine);
  expect(fold(['a', '', ' ', 'b'])).toEqual(['a', '', ' ', 'b']);
  expect(fold(['a', '', ' ', '\t', 'b'])).toEqual(['a', { emptyLines: 3, like: '' }, 'b']);
  expect(fold(['', '', '', ''])).toEqual([{ emptyLines: 4, like: '' }]);
  expect(fold(['\u3000', '\u200b', '\r'])).toEqual(['\u3000', '\u200b', '\r']);
  expect(fold([])).toEqual([]);
});

test('nothing of a text is left out', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', ' ', '\t', 'é', 'x'.repeat(3), ' '.repeat(50)) }),
      (line) => {
        const length = partsOfLine(line).reduce(
          (sum, part) => sum + (part.kind === 'text' ? part.text.length : part.count),
          0,
        );
        expect(length).toBe(line.length);
      },
    ),
  );
});
