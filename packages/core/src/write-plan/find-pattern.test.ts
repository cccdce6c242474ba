import { expect, it } from 'vitest';

import { findPattern } from './find-pattern.ts';
import { inChunks, inProcess } from './testing/memory-files.ts';

/** Hazard: a line that is not there, or one that is missing, at the end of a file or behind its byte order mark. */

it.each<[string, number, readonly (readonly [number, number, boolean])[]]>([
  ['', 0, []],
  ['a\n', 0, []],
  ['\ufeff', 3, []],
  ['\ufeff\n', 3, [[3, 4, true]]],
  ['a\n\n', 0, [[2, 3, true]]],
  ['a\r\n\r\nb', 0, [[3, 5, true]]],
  [
    '\n\nb',
    0,
    [
      [0, 1, true],
      [1, 2, true],
    ],
  ],
])('the empty lines of %j', async (text, firstLineStart, expected) => {
  for (const chunk of [1, 64]) {
    const pattern = await inProcess.open('^$');
    const found = await findPattern(inChunks(Buffer.from(text), chunk), pattern, firstLineStart);
    expect(found.count).toBe(expected.length);
    expect(
      found.places.map(({ lineStart, lineEnd, terminated }) => [lineStart, lineEnd, terminated]),
    ).toEqual(expected);
  }
});

it('a last line without an ending, which keeps its CR', async () => {
  const pattern = await inProcess.open('b\r$');
  const { places } = await findPattern(inChunks(Buffer.from('a\r\nb\r'), 2), pattern, 0);
  expect(places).toEqual([{ start: 3, end: 5, lineStart: 3, lineEnd: 5, terminated: false }]);
});
