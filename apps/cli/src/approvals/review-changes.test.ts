import type { ChangeProposal } from '@orion/agent';
import { expect, it } from 'vitest';

import { changeReviewer } from './review-changes.ts';
import type { ReviewAnswer } from './review-changes.ts';

/** Hazard: a person is asked about a change that was shown in part, or in a way that hides what it is. R256, B18. */

function screen(...answers: readonly ReviewAnswer[]) {
  const shown: [text: string, tone: string][] = [];
  const batches: number[] = [];
  const left = [...answers];
  const review = changeReviewer({
    line: (text, tone) => void shown.push([text, tone]),
    diff(lines) {
      batches.push(lines.length);
      for (const { text, tone } of lines) shown.push([text, tone]);
      return Promise.resolve(true);
    },
    ask: (question) => {
      shown.push([question, 'question']);
      const answer = left.shift();
      return answer === undefined
        ? Promise.reject(new Error('asked once more'))
        : Promise.resolve(answer);
    },
  });
  return { review, shown, batches };
}

function change(
  name: string,
  lines: readonly string[],
  more: Partial<ChangeProposal> = {},
): ChangeProposal {
  return {
    target_file: name,
    real_path: `/ws/${name}`,
    operation: 'overwrite',
    before: { bytes: 1_234, sha256: 'a'.repeat(64) },
    after: { bytes: 1, sha256: 'b'.repeat(64) },
    crlf: false,
    protected: false,
    hard_link: false,
    async *diff() {
      yield* lines;
    },
    ...more,
  };
}

const request = (...changes: readonly ChangeProposal[]) => ({
  id: 'i',
  intent: 'to\u202e test',
  changes,
});
const turn = new AbortController().signal;
const YES = { approved: true } as const;

it('shows each line of a diff in the tone of its kind', async () => {
  const { review, shown } = screen(YES);
  const lines = ['--- a', '+++ b', '@@ -1,2 +1,2 @@', ' same', '-old', '+new'];
  expect(await review(request(change('a.ts', lines)), turn)).toEqual(YES);
  expect(shown).toEqual([
    [String.raw`1 file about to change: to\u202e test`, 'warning'],
    ['overwrite /ws/a.ts: 1,234 → 1 byte; sha256 bbbbbbbbbbbb', 'warning'],
    ['--- a', 'error'],
    ['+++ b', 'success'],
    ['@@ -1,2 +1,2 @@', 'faint'],
    [' same', 'notice'],
    ['-old', 'error'],
    ['+new', 'success'],
    ['Write /ws/a.ts (+1 −1, 1 byte)?', 'question'],
  ]);
});

it('says of a file with other names that they keep its text', async () => {
  const said = async (hard_link: boolean): Promise<boolean> => {
    const { review, shown } = screen(YES);
    await review(request(change('a', ['+x'], { hard_link })), turn);
    return shown.some(([text, tone]) => text.includes('other names') && tone === 'warning');
  };
  expect([await said(true), await said(false)]).toEqual([true, false]);
});

it('shows several changes each with its place, and their headlines again before the question', async () => {
  const { review, shown } = screen(YES);
  const made = change('n\u0007ew', ['@@ @@', '+x'], { operation: 'create', before: null });
  await review(request(made, change('b.ts', ['@@ @@', '-y'])), turn);
  const first = String.raw`1 of 2: create /ws/n\x07ew: 1 byte; sha256 bbbbbbbbbbbb`;
  const second = '2 of 2: overwrite /ws/b.ts: 1,234 → 1 byte; sha256 bbbbbbbbbbbb';
  expect(shown.map(([text]) => text)).toEqual([
    String.raw`2 files about to change: to\u202e test`,
    first,
    '@@ @@',
    '+x',
    second,
    '@@ @@',
    '-y',
    first,
    second,
    'Write these 2 changes?',
  ]);
});

it('says that no byte changes, also where all lines end in CRLF', async () => {
  const said = async (lines: readonly string[], crlf: boolean): Promise<boolean> => {
    const { review, shown } = screen(YES);
    await review(request(change('a', lines, { crlf })), turn);
    return shown.some(([text, tone]) => text === 'No byte of it changes.' && tone === 'notice');
  };
  expect(await said([], false)).toBe(true);
  expect(await said([], true)).toBe(true);
  expect(await said(['+x'], false)).toBe(false);
  expect(await said(['+x\r'], true)).toBe(false);
});

it('shows all of a folded diff when it is asked to, in pieces, and asks again', async () => {
  const lines = ['@@ @@', ...Array.from({ length: 400 }, (_, at) => `+${at}`)];
  const { review, shown, batches } = screen('diff', { approved: false, reason: 'too long' });
  expect(await review(request(change('a', lines)), turn)).toEqual({
    approved: false,
    reason: 'Too long.',
  });
  expect(batches).toEqual([100, 100, 200, 200, 1]);
  const texts = shown.map(([text]) => text);
  expect(shown[102]).toEqual(['… 201 lines left out: d shows all of them', 'warning']);
  expect(texts.slice(-402, -1)).toEqual(lines);
  expect(texts.filter((text) => text === 'Write /ws/a (+400 −0, 1 byte)?')).toHaveLength(2);
});

it.each([YES, 'all'] as const)(
  'takes %j to a folded diff for no answer, until all of it was shown',
  async (yes) => {
    const long = ['@@ @@', ...Array.from({ length: 200 }, (_, at) => `+${at}`)];
    const { review, shown } = screen(yes, 'diff', yes);
    expect(await review(request(change('a', ['+x']), change('b', long)), turn)).toMatchObject(YES);
    const texts = shown.map(([text]) => text);
    const refusal =
      'Your yes does not count yet: 1 line left out above. Press d to see all of them.';
    expect(texts.filter((text) => text === refusal)).toHaveLength(1);
    expect(texts.filter((text) => text === 'Write these 2 changes?')).toHaveLength(3);
    // What is shown as it is is not folded.
    const short = screen(yes);
    expect(await short.review(request(change('a', long.slice(0, 200))), turn)).toMatchObject(YES);
  },
);

it('shows the headlines of what "all" covers, and asks about a protected path and about what was shown itself', async () => {
  const { review, shown } = screen('all', YES, YES);
  const signal = new AbortController().signal;
  const plain = request(change('a', ['+x']));
  await review(plain, signal);
  shown.length = 0;
  expect(await review({ ...plain, id: 'j' }, signal)).toEqual(YES);
  expect(shown).toEqual([['overwrite /ws/a: 1,234 → 1 byte; sha256 bbbbbbbbbbbb', 'warning']]);
  const both = request(change('a', ['+x']), change('.env', ['+x'], { protected: true }));
  await review({ ...both, id: 'k' }, signal);
  expect(shown.at(-1)).toEqual(['Write these 2 changes?', 'question']);
  shown.length = 0;
  await review(plain, signal);
  expect(shown.at(-1)).toEqual(['Write /ws/a (+0 −0, 1 byte)?', 'question']);
});
