import { expect, test } from 'vitest';

import { isLabel, undressed, withoutTokensAtEnd } from './chat-tokens.ts';

/** Hazard: looking for what stands around an answer takes the square of a line's length. */

test('a label is short', () => {
  expect(isLabel(`${'*'.repeat(26)}answer`)).toBe(true);
  expect(isLabel(`${'*'.repeat(27)}answer`)).toBe(false);
});

test.each([
  ['blanks and stars', `${'* '.repeat(200_000)}x`],
  ['beginnings of tokens', '<|a'.repeat(200_000)],
  ['tokens', '<|a|> '.repeat(100_000)],
  ['boxes', '\\boxed{'.repeat(100_000)],
  ['dollars', '$'.repeat(400_000)],
])('a long line of %s is read at once', { timeout: 5_000 }, (_name, line) => {
  expect(withoutTokensAtEnd(line).length + undressed(line).length).toBeLessThanOrEqual(
    2 * line.length,
  );
});
