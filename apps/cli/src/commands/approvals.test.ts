import type { ChangeReviewer } from '@orion/agent';
import { expect, it, vi } from 'vitest';

import { createFakeContext, type FakeContext } from '../testing/fake-context.ts';
import { actionReview } from './approve-action.ts';
import { approval } from './approve-change.ts';

/** Hazard: an answer is taken for a yes, or for more than it was given for. R256, B18. */

const FOLDER = '/ws';
const REVIEW = { id: 'i', intent: 'a test', changes: [] };
const turn = (): AbortSignal => new AbortController().signal;

function reviewer(...typed: readonly string[]) {
  const context = createFakeContext({ terminal: true });
  const review = approval(context, 'ask', 'turn') as ChangeReviewer;
  void type(context, typed);
  return { review, asked: () => questions(context) };
}

/** One line for each question, once it is asked. */
async function type(context: FakeContext, lines: readonly string[]): Promise<void> {
  for (const [index, line] of lines.entries()) {
    await vi.waitFor(() => expect(questions(context)).toBe(index + 1));
    context.typed.write(`${line}\r`);
  }
}

const questions = (context: FakeContext): number =>
  context.stderr.written().split('(y/N').length - 1;

it.each([
  ['y', null],
  [' YES ', null],
  ['', 'the person said no'],
  ['n', 'the person said no'],
  ['No', 'the person said no'],
  ['n: use tabs', 'the person said no: use tabs'],
  ['no, y', 'the person said no: y'],
])('takes %j for a line of a shell', async (typed, reason) => {
  const context = createFakeContext({ terminal: true });
  const action = { kind: 'command', command: 'ls', folder: FOLDER } as const;
  const answer = actionReview(context).reviewAction(action, turn());
  context.typed.write(`${typed}\r`);
  expect(await answer).toEqual(reason === null ? { approved: true } : { approved: false, reason });
});

it.each(['a', 'all', 'yes please', 'none', 'ny', '1', 'd'])(
  'asks again after %j, which is no answer for a line of a shell',
  async (typed) => {
    const context = createFakeContext({ terminal: true });
    const action = { kind: 'command', command: 'ls\nls', folder: FOLDER } as const;
    const answer = actionReview(context).reviewAction(action, turn());
    void type(context, [typed, 'n']);
    expect(await answer).toEqual({ approved: false, reason: 'the person said no' });
    expect(context.stderr.written()).toContain('This is not one of the answers.');
    expect(context.stderr.written()).toContain('Run these 2 lines in /ws?');
  },
);

it('covers with "all" what the same turn writes later, and nothing of the next turn', async () => {
  const { review, asked } = reviewer('a', 'n enough?');
  const signal = turn();
  expect(await review(REVIEW, signal)).toEqual({ approved: true, forTurn: true });
  expect(await review({ ...REVIEW, id: 'j' }, signal)).toEqual({ approved: true });
  expect(asked()).toBe(1);
  expect(await review({ ...REVIEW, id: 'k' }, turn())).toEqual({
    approved: false,
    reason: 'The person said no: enough?',
  });
  expect(asked()).toBe(2);
});

it('takes the end of the input for a no', async () => {
  const context = createFakeContext({ terminal: true });
  const review = approval(context, 'ask', 'plan') as ChangeReviewer;
  context.typed.end();
  expect(await review(REVIEW, turn())).toEqual({ approved: false, reason: 'Nobody answered.' });
  expect(context.stderr.written()).not.toContain('all of this turn');
});
