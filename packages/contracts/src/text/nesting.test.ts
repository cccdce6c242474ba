import { expect, test } from 'vitest';

import { nestsDeeper } from './nesting.ts';

test.each([
  ['', 0, false],
  ['7', 0, false],
  ['[]', 0, true],
  ['[]', 1, false],
  ['{"a":[1]}', 1, true],
  ['{"a":[1]}', 2, false],
  ['[[],[],[]]', 2, false],
  ['[[],[],[[]]]', 2, true],
  ['{"a":"[[["}', 1, false],
  ['{"a":"\\"[[["}', 1, false],
  ['{"a":"\\\\","b":[[]]}', 2, true],
  ['[[[[', 3, true],
  ['[[[', 3, false],
] as const)('%s nests deeper than %i: %s', (text, limit, deeper) => {
  expect(nestsDeeper(text, limit)).toBe(deeper);
});
