import type { ChangeProposal } from '@orion/agent';
import type { Clock } from '@orion/contracts';
import { describe, expect, it } from 'vitest';

import type { Answer } from './controller.ts';
import { confirmPaths, reviewActions, reviewChanges, type ReviewPlace } from './review.ts';

/** Hazard: an answer is taken for a yes, or nobody's silence is; what is asked about was not shown. R256, B16, B18. */

const COMMAND = { kind: 'command', command: 'ls \u001b[2J', folder: '/ws' } as const;

/** With one timer, which is over when its time is. */
function fakeClock(): Clock & { advance(milliseconds: number): void } {
  let timer: { left: number; readonly run: () => void } | null = null;
  return {
    now: () => 0,
    monotonic: () => 0,
    schedule(left, run) {
      timer = { left, run };
      return () => {
        timer = null;
      };
    },
    advance(milliseconds) {
      if (timer === null) return;
      timer.left -= milliseconds;
      if (timer.left <= 0) timer.run();
    },
  };
}

function place(answers: readonly (Answer | null | 'none')[]) {
  const clock = fakeClock();
  const shown: string[] = [];
  const asked: string[] = [];
  const waiting = [...answers];
  const reads = { now: true };
  const review: ReviewPlace = {
    clock,
    line: (text) => void shown.push(text),
    whole(lines) {
      shown.push(...lines.map(({ text }) => text));
      return reads.now ? Promise.resolve() : new Promise(() => undefined);
    },
    ask: ({ text }, signal) => {
      asked.push(text);
      const answer = waiting.shift() ?? null;
      if (answer !== 'none') return Promise.resolve(answer);
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve(null));
      });
    },
  };
  return { review, clock, shown, asked, reads };
}

const key = (value: string, text = ''): Answer => ({ value, text });

function change(name: string, lines: readonly string[]): ChangeProposal {
  return {
    target_file: name,
    real_path: `/ws/${name}`,
    operation: 'overwrite',
    before: { bytes: 4, sha256: 'a'.repeat(64) },
    after: { bytes: 17, sha256: 'b'.repeat(64) },
    crlf: false,
    protected: name.startsWith('.'),
    hard_link: false,
    async *diff() {
      await Promise.resolve();
      yield* lines;
    },
  };
}

const request = (...changes: readonly ChangeProposal[]) => ({ id: 'i', intent: 'a test', changes });
const turn = (): AbortSignal => new AbortController().signal;
const DIFF = ['--- a/a.ts', '+++ b/a.ts', '@@ -1 +1 @@', '-old', '+new \u001b]0;x\u0007\u202e'];

describe('a change', () => {
  it.each([
    [key('y'), { approved: true }],
    [key('n'), { approved: false, reason: 'The person said no.' }],
    [key('t', ' use tabs '), { approved: false, reason: 'The person said no: use tabs.' }],
    [key('t', ' '), { approved: false, reason: 'The person said no.' }],
    [null, { approved: false, reason: 'The person closed the question.' }],
  ])('is answered by %j', async (answer, expected) => {
    const { review } = place([answer]);
    expect(await reviewChanges(review)(request(change('a.ts', DIFF)), turn())).toEqual(expected);
  });

  it('is shown before it is asked about, harmless, with path and size in the question', async () => {
    const { review, shown, asked } = place([key('y')]);
    await reviewChanges(review)(request(change('a\u202e.ts', DIFF)), turn());
    expect(shown).toEqual([
      '1 file about to change: a test',
      String.raw`overwrite /ws/a\u202e.ts: 4 → 17 bytes; sha256 bbbbbbbbbbbb`,
      ...DIFF.slice(0, 4),
      String.raw`+new \x1b]0;x\x07\u202e`,
    ]);
    expect(asked).toEqual([String.raw`Write /ws/a\u202e.ts (+1 −1, 17 bytes)?`]);
  });

  it('is folded when it is long, and shown whole by d', async () => {
    const long = ['--- a', '+++ b', '@@ -0,0 +1,300 @@'];
    for (let line = 1; line <= 300; line += 1) long.push(`+line ${line}`);
    const { review, shown, asked } = place([key('d'), key('y')]);
    await reviewChanges(review)(request(change('a.ts', long)), turn());
    expect(shown.slice(2, 102)).toEqual(long.slice(0, 100));
    expect(shown[102]).toBe('… 103 lines left out: d shows all of them');
    expect(shown.slice(103, 203)).toEqual(long.slice(-100));
    expect(shown.slice(203)).toEqual(long);
    expect(asked).toHaveLength(2);
  });

  it('takes no yes for what was not shown because the terminal did not read for ten minutes', async () => {
    const long = Array.from({ length: 500 }, (_, line) => `+line ${line}`);
    const { review, clock, shown, asked, reads } = place([key('d'), key('y'), key('n')]);
    const original = review.ask;
    const slow: ReviewPlace = {
      ...review,
      ask(question, signal) {
        reads.now = asked.length > 0;
        return original(question, signal);
      },
    };
    const answer = reviewChanges(slow)(request(change('a.ts', long)), turn());
    await new Promise(setImmediate);
    expect(asked).toHaveLength(1);
    clock.advance(10 * 60 * 1000);
    expect(await answer).toMatchObject({ approved: false });
    expect(asked).toHaveLength(3);
    expect(shown).toContain(
      'Your yes does not count yet: 400 lines left out above. Press d to see all of them.',
    );
    expect(shown).not.toContain('+line 250');
  });

  it('is covered by "all" in its turn, but no protected path and no later turn', async () => {
    const { review, asked } = place([key('a'), key('y'), key('n')]);
    const reviewer = reviewChanges(review);
    const signal = turn();
    const ask = (id: string, name: string, of = signal) =>
      reviewer({ ...request(change(name, DIFF)), id }, of);
    expect(await ask('1', 'a.ts')).toEqual({ approved: true, forTurn: true });
    expect(await ask('2', 'b.ts')).toEqual({ approved: true });
    expect(asked).toHaveLength(1);
    await ask('3', '.env');
    expect(asked).toHaveLength(2);
    expect(await ask('4', 'c.ts', turn())).toMatchObject({ approved: false });
  });

  it('is refused by ten minutes without an answer, and not a moment before', async () => {
    const { review, clock, shown } = place(['none']);
    const answer = reviewChanges(review)(request(change('a.ts', DIFF)), turn());
    let settled = false;
    void answer.then(() => {
      settled = true;
    });
    await new Promise(setImmediate);
    clock.advance(10 * 60 * 1000 - 1);
    await new Promise(setImmediate);
    expect(settled).toBe(false);
    clock.advance(1);
    expect(await answer).toEqual({
      approved: false,
      reason: 'Nobody answered for 10 minutes.',
    });
    expect(shown.at(-1)).toBe('Counted as a no: nobody answered for 10 minutes.');
  });

  it('is withdrawn when its turn is stopped', async () => {
    const { review, shown } = place(['none']);
    const stop = new AbortController();
    const answer = reviewChanges(review)(request(change('a.ts', DIFF)), stop.signal);
    await new Promise(setImmediate);
    stop.abort();
    expect(await answer).toEqual({ approved: false, reason: 'Nobody answered.' });
    expect(shown.at(-1)).not.toContain('Counted as a no');
  });
});

describe('an action', () => {
  it.each([
    [key('y'), { approved: true }],
    [key('n'), { approved: false, reason: 'the person said no' }],
    [key('t', 'not now'), { approved: false, reason: 'the person said no: not now' }],
    [key('a'), { approved: false, reason: '' }],
    [key('d'), { approved: false, reason: '' }],
    [null, { approved: false, reason: 'the person closed the question' }],
  ])('is answered by %j', async (answer, expected) => {
    const { review } = place([answer]);
    expect(await reviewActions(review)(COMMAND, turn())).toEqual(expected);
  });

  it('is shown whole and harmless, and refused unasked when it is too long to be read', async () => {
    const { review, shown, asked } = place([key('y')]);
    await reviewActions(review)(COMMAND, turn());
    expect(shown).toEqual(['A command is about to run in /ws:', String.raw`ls \x1b[2J`]);
    expect(asked).toEqual(['Run it in /ws? What it changes cannot be undone.']);
    const long = { ...COMMAND, command: 'ls\n'.repeat(200) };
    expect(await reviewActions(review)(long, turn())).toMatchObject({ approved: false });
    expect(asked).toHaveLength(1);
  });
});

it('a protected path needs a yes', async () => {
  const { review, asked } = place([key('y'), key('n'), null]);
  const confirm = confirmPaths(review, turn);
  expect(await confirm('.env\u202e', '.env*')).toBe(true);
  expect(await confirm('.env', '.env*')).toBe(false);
  expect(await confirm('.env', '.env*')).toBe(false);
  expect(asked[0]).toBe(String.raw`.env\u202e is protected (.env*). Write it?`);
});
