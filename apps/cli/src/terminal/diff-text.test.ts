import { describe, expect, it } from 'vitest';

import { diffLine, diffLines } from './diff-text.ts';

/** Hazard: a person agrees to something that the diff did not show. */

describe('a line of a diff', () => {
  it.each([
    ['+a\u001b]52;c;AAAA\u0007b', '+a\\x1b]52;c;AAAA\\x07b'],
    ['+if (a\u202e \u2066// b', '+if (a\\u202e \\u2066// b'],
    ['+a\u200bb\ufeffc\u3164', '+a\\u200bb\\ufeffc\\u3164'],
    ['+\u{e0041}\u{e0042}', '+\\u{e0041}\\u{e0042}'],
    ['+x\u061cy', '+x\\u061cy'],
    ['+x\ufe01\ufe02', '+x\\ufe01\\ufe02'],
    ['+a\u00ad\u2065\u180b\u180fb', '+a\\xad\\u2065\\u180b\\u180fb'],
    ['+\u{1bca0}\u{1d173}\u{e0180}', '+\\u{1bca0}\\u{1d173}\\u{e0180}'],
    [`+a${'\u2800'.repeat(3)}rm`, '+a\\u2800\\u2800\\u2800rm'],
    ['+می\u200cخواهم क्\u200dष', '+می\u200cخواهم क्\u200dष'],
    ['+a\u200d\u200db', '+a\\u200d\\u200db'],
    ['+\u2764\ufe0f \u{1f469}\u200d\u{1f680}', '+\u2764\ufe0f \u{1f469}\u200d\u{1f680}'],
    ['+\ta\r', '+\ta\\x0d'],
    [`+a${' '.repeat(10_000)}rm -rf`, '+a[10,000 blanks]rm -rf'],
    [`+${' '.repeat(40)}deep`, `+${' '.repeat(40)}deep`],
  ])('%j', (line, shown) => {
    expect(diffLine(line)).toBe(shown);
  });
});

it('says once that all lines end in CRLF, and shows a carriage return that is not of that', async () => {
  async function* lines(): AsyncGenerator<string> {
    yield '+a\r';
    yield '+b\r\r';
    yield '+';
  }
  const shown: string[] = [];
  for await (const line of diffLines(lines(), true)) shown.push(line);
  expect(shown).toEqual(['(all lines end in CRLF)', '+a', '+b\\x0d', '+']);
});

it('tells many empty lines as a number', async () => {
  async function* lines(): AsyncGenerator<string> {
    yield '+a';
    for (let count = 0; count < 5000; count += 1) yield '+';
    yield '+rm -rf';
    yield '-';
  }
  const shown: string[] = [];
  for await (const line of diffLines(lines(), false)) shown.push(line);
  expect(shown).toEqual([
    '+a',
    ...Array.from({ length: 10 }, () => '+'),
    '+[4,990 more empty lines]',
    '+rm -rf',
    '-',
  ]);
});
