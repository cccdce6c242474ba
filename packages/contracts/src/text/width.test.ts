import { expect, test } from 'vitest';
import { cutToColumns } from './width.ts';

test.each([
  ['abc', 3, 'abc', 3],
  ['abcd', 3, 'abc', 3],
  ['', 3, '', 0],
  ['abc', 0, '', 0],
  ['日本', 4, '日本', 4],
  ['日本', 3, '日', 2],
  ['a日', 2, 'a', 1],
  ['😀b', 2, '😀', 2],
  ['é…ß', 3, 'é…ß', 3],
])('of %j %i columns hold %j', (text, columns, shown, width) => {
  expect(cutToColumns(text, columns)).toEqual({ text: shown, width });
});
