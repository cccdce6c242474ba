import { expect, test } from 'vitest';
import { isCount, isFields, isTextOrNull, parseFields } from './fields.ts';

test('what JSON holds', () => {
  expect(parseFields('{"a":1}')).toEqual({ a: 1 });
  for (const text of ['', '[]', 'null', '1', '{']) expect(parseFields(text)).toBeNull();
  expect([{}, [], null, 'a'].map((value) => isFields(value))).toEqual([true, false, false, false]);
  expect([0, 7, -1, 1.5, '1', 2 ** 53].map(isCount)).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
  expect(['', null, undefined, 1].map(isTextOrNull)).toEqual([true, true, false, false]);
});
