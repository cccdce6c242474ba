import type { SessionRecord } from '@orion/contracts';
import { describe, expect, it } from 'vitest';

import { SessionHarness } from './testing/session-harness.ts';

/** Hazard: chat behind a DONE line of a message that never ended becomes part of a file unasked. */

const SAVED = 'one\ntwo\nDONE\nI am finished now.\nmore\n';
const BROKEN = {
  kind: 'error',
  code: 'STREAM_BROKEN',
  message: 'The stream broke.',
  retryable: true,
} as const;

function interrupted(end: 'cancelled' | 'open' = 'cancelled', text = SAVED): SessionHarness {
  const harness = new SessionHarness();
  harness.send({ type: 'message_started' });
  harness.send({ type: 'text', text });
  if (end === 'cancelled') harness.send({ type: 'cancelled' });
  return harness;
}

function recovered(content: string, record: SessionRecord | null): SessionHarness {
  return new SessionHarness({ recovered: { content, record } });
}

describe('R022, R023: a message that never ended', () => {
  it('leaves the question where the file ends, with its DONE lines, when it is cancelled', () => {
    const { record } = interrupted();
    expect(record).toMatchObject({
      inner_done_lines: [3],
      question: { kind: 'end', candidates: [{ line: 3, contentEnd: 8 }] },
    });
  });

  it('asks it at a recovery, whatever was saved of it', () => {
    for (const record of [interrupted().record, interrupted('open').record, null]) {
      const harness = recovered(SAVED, record);
      expect(harness.state).toBe('session_active.awaiting_answer');
      harness.message('END 3');
      expect([harness.file, harness.record.inner_done_lines]).toEqual(['one\ntwo\n', [3]]);
    }
  });

  it('takes a reply that goes on with the file for what it is, and does not ask again', () => {
    const harness = recovered(SAVED, null);
    harness.message(`${SAVED}last\nDONE\n`);
    expect([harness.state, harness.file]).toEqual(['session_active.finalizing', `${SAVED}last\n`]);
  });

  it('asks before the file is written when the message was cut off and continued', () => {
    const harness = new SessionHarness();
    harness.message(SAVED, BROKEN);
    harness.message('DONE');
    expect(harness.state).toBe('session_active.awaiting_answer');
    expect(harness.prompts.at(-1)).toContain('Line 3 of what is saved for a.txt is DONE');
    harness.message('DONE');
    expect([harness.file, harness.record.inner_done_lines]).toEqual([SAVED, [3]]);
  });

  it('asks nothing about a file that ended with the session’s own marker', () => {
    const harness = new SessionHarness();
    harness.message(SAVED, BROKEN);
    harness.message(`${SAVED}last\nDONE 7f3a\n`);
    expect([harness.state, harness.file]).toEqual(['session_active.finalizing', `${SAVED}last\n`]);
  });

  it('pauses with the question at the size limit', () => {
    const harness = new SessionHarness({ settings: { maxBytes: SAVED.length } });
    harness.message(`${SAVED}one line too many\n`);
    expect(harness.record).toMatchObject({
      code: 'CONTENT_TOO_LARGE',
      question: { kind: 'end', candidates: [{ line: 3 }] },
    });
  });

  it('has no DONE lines in strict mode', () => {
    const harness = new SessionHarness({
      settings: { strict: true },
      recovered: { content: SAVED, record: null },
    });
    expect(harness.state).toBe('session_active.awaiting_done_or_more_content');
    expect(harness.record.inner_done_lines).toEqual([]);
  });
});

describe('R023: what was answered once', () => {
  it('is not asked again after a pause', () => {
    const harness = new SessionHarness();
    harness.message(SAVED);
    harness.send({ type: 'timer', timer: 'idle' });
    harness.message('DONE');
    expect(harness.file).toBe(SAVED);
    harness.send({
      type: 'finalize_failed',
      code: 'FILE_EXISTS',
      message: 'It exists.',
      retryable: false,
    });
    expect(harness.record.question).toBeUndefined();
    expect(recovered(SAVED, harness.record).state).toBe(
      'session_active.awaiting_done_or_more_content',
    );
  });
});
