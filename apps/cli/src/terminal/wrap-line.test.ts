import fc from 'fast-check';
import { expect, it } from 'vitest';

import { columnsOf } from './columns.ts';
import { wrapLine } from './wrap-line.ts';

it.each([
  ['fits', 'a line  of text', 15, ['a line  of text']],
  ['one column less', 'a line  of text', 14, ['a line  of', 'text']],
  ['indented', '  one two three', 9, ['  one two', '  three']],
  ['a path that is too long', 'Wrote /a/long/path now', 10, ['Wrote', '/a/long/path', 'now']],
  ['no blank at all', 'x'.repeat(30), 10, ['x'.repeat(30)]],
  ['wide characters', '日本 日本', 8, ['日本', '日本']],
  ['nothing', '', 10, ['']],
])('wraps a line between words: %s', (_, text, width, lines) => {
  expect(wrapLine(text, width)).toEqual(lines);
});

it('keeps every word, and breaks only where it has to', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', '日'), minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(
      fc.array(word, { maxLength: 20 }),
      fc.integer({ min: 1, max: 30 }),
      (words, width) => {
        const lines = wrapLine(words.join(' '), width);
        expect(lines.join(' ')).toBe(words.join(' '));
        for (const [index, line] of lines.entries()) {
          if (line.includes(' ')) expect(columnsOf(line)).toBeLessThanOrEqual(width);
          const [next = ''] = (lines[index + 1] ?? '').split(' ');
          if (next !== '') expect(columnsOf(`${line} ${next}`)).toBeGreaterThan(width);
        }
      },
    ),
  );
});
