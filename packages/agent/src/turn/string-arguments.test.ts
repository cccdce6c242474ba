import fc from 'fast-check';
import { expect, test } from 'vitest';

import { StringArguments } from './string-arguments.ts';

function stringsOf(pieces: readonly string[]): string[] {
  const strings: string[] = [];
  const reader = new StringArguments({
    wants: (key) => key === 'content',
    onStart: () => strings.push(''),
    onText: (text) => {
      strings[strings.length - 1] += text;
    },
  });
  for (const piece of pieces) reader.push(piece);
  return strings;
}

test('strings under a key are found at any depth, and nothing else is', () => {
  const value = {
    path: 'content',
    content: 'a "quoted"\n\\line 🎉',
    deep: [{ content: 'b', other: { content: ['c', 7] } }, 'content'],
    'content ': 'no',
  };
  expect(stringsOf([JSON.stringify(value)])).toEqual(['a "quoted"\n\\line 🎉', 'b', 'c']);
});

test('a text that ends early gives what there was', () => {
  expect(stringsOf(['{"content":"half a li'])).toEqual(['half a li']);
  expect(stringsOf(['{"content":"half\\'])).toEqual(['half']);
  expect(stringsOf(['"content":"no object'])).toEqual([]);
  expect(stringsOf(['{"content":7,"content":"x"'])).toEqual(['x']);
});

test('R258: any split gives the same strings', () => {
  const json = fc.record({ content: fc.string({ unit: 'grapheme' }), more: fc.jsonValue() });
  fc.assert(
    fc.property(json, fc.array(fc.nat(60), { maxLength: 12 }), (value, cuts) => {
      const text = JSON.stringify(value, null, 1).replaceAll('é', '\\u00e9');
      const ends = [...cuts.toSorted((left, right) => left - right), text.length];
      const pieces = ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end));
      expect(stringsOf(pieces)).toEqual(stringsOf([text]));
      expect(stringsOf([text])[0]).toBe(value.content);
    }),
  );
});
