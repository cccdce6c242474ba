import { describe, expect, it } from 'vitest';

import { SessionHarness, invalidPlace } from './testing/session-harness.ts';

const places = [invalidPlace(1, 1), invalidPlace(2, 3)];
const first = { start: 1, end: 2, text: '1' };
const second = { start: 3, end: 4, text: '2' };

/** A session whose text was handed to the commit and came back. */
function rejected(): SessionHarness {
  const harness = new SessionHarness();
  harness.message('a\0b\0c\nDONE');
  expect(harness.state).toBe('session_active.finalizing');
  harness.send({ type: 'corrections_needed', places, count: 2 });
  expect(harness.state).toBe('session_active.needs_corrections');
  return harness;
}

describe('R097: the reply to a question about invalid text', () => {
  it('is never content, chat or held text, and its round is saved before the file is tried again', () => {
    const harness = rejected();
    harness.message(['#1', ': 1\nDO', 'NE\n#2: 2']);
    expect(harness.state).toBe('session_active.finalizing');
    expect(harness.content).toBe('a\0b\0c\n');
    expect(harness.chat + harness.held + harness.aside).toBe('');
    expect(harness.record.repair).toEqual({ found: 2, rounds: [[first, second]], replace: false });
  });

  it('that answers some places is used for these', () => {
    const harness = rejected();
    harness.message('#2: 2');
    expect(harness.record.repair?.rounds).toEqual([[second]]);
    harness.send({ type: 'corrections_needed', places: [invalidPlace(1, 1)], count: 1 });
    expect(harness.prompts.at(-1)).toContain('1 place in a.txt');
    expect(harness.record.repair?.found).toBe(2);
  });

  it.each([
    ['says something else', { kind: 'stop' }, 'sorry'],
    ['was cut off', { kind: 'length' }, '#1: 1\n#2: 2'],
    ['broke', { kind: 'error', code: 'STREAM_BROKEN', message: '', retryable: true }, '#1: 1'],
    ['was refused', { kind: 'error', code: 'PROVIDER_AUTH', message: '', retryable: false }, ''],
  ] as const)(
    'that %s is a failed round, and the third one ends the asking',
    (_name, end, text) => {
      const harness = rejected();
      harness.message(text, end);
      harness.message(text, end);
      expect(harness.prompts).toHaveLength(3);
      expect(harness.state).toBe('session_active.needs_corrections');
      harness.message(text, end);
      expect(harness.state).toBe('session_active.finalizing');
      expect(harness.record.repair).toEqual({ found: 2, rounds: [[], [], []], replace: true });
    },
  );
});

describe('R098: rounds are counted for the session, not for the process', () => {
  it.each(['cancelled', 'graceful_stop'] as const)(
    '%s, then recovered: the next round goes on',
    (type) => {
      const harness = rejected();
      harness.message('#1: 1');
      harness.send({ type: 'corrections_needed', places: [invalidPlace(1, 3)], count: 1 });
      harness.send({ type });
      expect(harness.state).toBe('session_active.paused');

      const recovered = new SessionHarness({
        recovered: { content: harness.content, record: harness.record },
      });
      // Its text is complete: it is not asked to go on with it, but validated again.
      expect(recovered.state).toBe('session_active.finalizing');
      expect(recovered.prompts).toEqual([]);
      recovered.send({ type: 'corrections_needed', places: [invalidPlace(1, 3)], count: 1 });
      recovered.message('no');
      recovered.message('no');
      expect(recovered.state).toBe('session_active.finalizing');
      expect(recovered.record.repair).toEqual({
        found: 2,
        rounds: [[first], [], []],
        replace: true,
      });
    },
  );

  it('killed within a round: that round is repeated', () => {
    const harness = rejected();
    harness.send({ type: 'message_started' });
    harness.send({ type: 'text', text: '#1: 1' });
    const recovered = new SessionHarness({
      recovered: { content: harness.content, record: harness.record },
    });
    recovered.send({ type: 'corrections_needed', places, count: 2 });
    expect(recovered.record.repair?.rounds).toEqual([]);
    expect(recovered.prompts).toHaveLength(1);
  });

  it('what the file is was decided before: other settings change nothing, so that the offsets stay true', () => {
    const harness = new SessionHarness({ target: 'a.ts', settings: { stripFence: 'never' } });
    harness.message('```ts\na\0b\n```\nDONE');
    harness.send({ type: 'corrections_needed', places: [invalidPlace(1, 1)], count: 1 });
    const recovered = new SessionHarness({
      target: 'a.ts',
      recovered: { content: harness.content, record: harness.record },
    });
    expect(recovered.file).toBe('```ts\na\0b\n```\n');
  });

  it('written by hand: nothing is asked, what is invalid is replaced', () => {
    const harness = rejected();
    harness.send({ type: 'cancelled' });
    harness.send({ type: 'finalize_command', answer: null });
    harness.send({ type: 'corrections_needed', places, count: 2 });
    expect(harness.prompts).toHaveLength(1);
    expect(harness.state).toBe('session_active.finalizing');
    expect(harness.record.repair).toEqual({ found: 2, rounds: [], replace: true });
  });
});
