import { expect, it } from 'vitest';

import { approvalPrompt, isYes, readApproval } from './answers.ts';

const OTHERS = { all: 'writes all', diff: 'shows it' };

it.each(['y', 'Y', 'yes', 'YES', ' yes '])('takes %j as a yes', (typed) => {
  expect(readApproval(typed, OTHERS)).toEqual({ approved: true });
  expect(isYes(typed)).toBe(true);
});

it.each(['ye', 'yess', 'y y', 'yes, all', 'ja', '\u0443', '1', 'nope', 'alll', 'x', 'yes\nno'])(
  'takes %j as no answer',
  (typed) => {
    expect(readApproval(typed, OTHERS)).toBeNull();
    expect(isYes(typed)).toBe(false);
  },
);

it.each([
  ['', 'the person said no'],
  ['  ', 'the person said no'],
  ['N', 'the person said no'],
  ['no', 'the person said no'],
  ['n use tabs', 'the person said no: use tabs'],
  ['No, use tabs ', 'the person said no: use tabs'],
  ['n: a\nb', 'the person said no: a\nb'],
])('takes %j as a no', (typed, reason) => {
  expect(readApproval(typed, OTHERS)).toEqual({ approved: false, reason });
});

it.each([
  ['a', 'all'],
  [' ALL ', 'all'],
  ['d', 'diff'],
  ['diff', 'diff'],
])('takes %j as another answer that is offered', (typed, answer) => {
  expect(readApproval(typed, OTHERS)).toBe(answer);
  expect(readApproval(typed, {})).toBeNull();
});

it('names the answers', () => {
  expect(approvalPrompt('Write it?', OTHERS)).toBe(
    'Write it? (y/N, a writes all, d shows it, n <why> tells the model) ',
  );
});
