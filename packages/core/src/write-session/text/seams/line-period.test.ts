import { expect, test } from 'vitest';
import { periodOf, runPeriodOf } from './line-period.ts';

/** Hazard: lines that repeat themselves are taken for lines that stand once, or the other way round. */

test.each([
  ['', ''],
  ['a', ''],
  ['ab', ''],
  ['aa', 'a'],
  ['aaa', 'a'],
  ['aba', ''],
  ['abab', 'ab'],
  ['ababa', 'ba'],
  ['abcab', ''],
  ['abcabc', 'abc'],
  ['abcabca', 'bca'],
  ['aabaab', 'aab'],
  ['aabaaab', ''],
  ['aabaabaa', 'baa'],
  ['abacabab', ''],
  ['abacabacab', 'acab'],
  ['baaa', ''],
  ['ababaababa', 'ababa'],
])('the period of %j is %j', (lines, period) => {
  expect(periodOf(lines.split(''))).toEqual(period.split(''));
});

test('blank lines are not part of a period', () => {
  expect(periodOf(['a', '', 'a', ''])).toEqual(['a']);
  expect(periodOf(['', ''])).toEqual([]);
  expect(runPeriodOf(['', 'a', '', 'a', '', 'a', '', 'a'])).toEqual(['a']);
});

test.each([
  ['aaa', ''],
  ['aaaa', 'a'],
  ['baaaa', 'a'],
  ['aaaab', ''],
  ['bbaba', ''],
  ['abababab', 'ab'],
  ['xabababab', 'ab'],
  ['ababababa', 'ba'],
  ['bababab', ''],
  ['abcabcabcabc', 'abc'],
  ['abcdefgh'.repeat(4), 'abcdefgh'],
  ['abcdefgh'.repeat(4).slice(1), ''],
  ['abcdefghi'.repeat(4), ''],
  ['abcdefghi'.repeat(8), ''],
])('the run at the end of %j is of %j', (lines, period) => {
  expect(runPeriodOf(lines.split(''))).toEqual(period.split(''));
});
