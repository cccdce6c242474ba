import type { Message } from '@orion/contracts';
import { expect, test } from 'vitest';
import { titleOf } from './title.ts';

const word = (length: number): string => 'x'.repeat(length);

test.each([
  ['', ''],
  [' a\n\tb\u200b\u0007 c ', 'a b c'],
  ['a\ud83d', 'a\ufffd'],
  [word(80), word(80)],
  [word(81), `${word(79)}…`],
  // Each of these is one character.
  ['😀'.repeat(80), '😀'.repeat(80)],
  ['😀'.repeat(81), `${'😀'.repeat(79)}…`],
  // It ends with a whole word unless too little would be left.
  [`${word(40)} ${word(60)}`, `${word(40)} ${word(38)}…`],
  [`${word(41)} ${word(60)}`, `${word(41)}…`],
  [`${word(78)} ${word(60)}`, `${word(78)}…`],
  [`${word(79)} ${word(60)}`, `${word(79)}…`],
  [`a${' '.repeat(638)}b`, 'a b'],
  [`a${' '.repeat(639)}b`, 'a'],
])('%j is shown as %j', (content, title) => {
  expect(titleOf([{ role: 'user', content }])).toBe(title);
});

test('the first user message counts, whatever is before and behind it', () => {
  const history: readonly Message[] = [
    { role: 'system', content: 'system' },
    { role: 'assistant', content: 'greeting' },
    { role: 'user', content: 'first' },
    { role: 'user', content: 'second' },
  ];
  expect(titleOf(history)).toBe('first');
  expect(titleOf(history.slice(0, 2))).toBe('');
});
