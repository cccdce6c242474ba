import type { RunEvent } from '@orion/contracts';
import { describe, expect, it } from 'vitest';

import { chunk, done, event, PAUSED, RECEIPT, session } from '../testing/events.ts';
import { resultLine } from './result-line.ts';
import { addToSummary, EMPTY_SUMMARY, type TurnSummary } from './turn-summary.ts';

function summarize(...events: RunEvent[]): TurnSummary {
  return events.reduce(addToSummary, EMPTY_SUMMARY);
}

describe('what remains of a turn', () => {
  it('adds up usage and keeps receipts in order', () => {
    const usage = event({
      type: 'usage',
      inputTokens: 10,
      outputTokens: 5,
      cachedTokens: 2,
      reasoningTokens: 1,
    });
    const second = { ...RECEIPT, session_id: 's2' };
    const summary = summarize(
      usage,
      session({ status: 'done', receipt: RECEIPT }),
      usage,
      session({ sessionId: 's2', status: 'done', receipt: second }),
      done(),
    );
    expect(summary.usage).toEqual({
      inputTokens: 20,
      outputTokens: 10,
      cachedTokens: 4,
      reasoningTokens: 2,
    });
    expect(summary.receipts).toEqual([RECEIPT, second]);
    expect(summary).toMatchObject({ sessionOpen: false, status: 'complete', requestId: 'r1' });
  });

  it('forgets a pause that was got over', () => {
    const paused = session({ status: 'session_active.paused', paused: PAUSED });
    expect(summarize(paused)).toMatchObject({ paused: [PAUSED], sessionOpen: true });
    const after = summarize(paused, session({ status: 'done', receipt: RECEIPT }));
    expect(after).toMatchObject({ paused: [], sessionOpen: false });
  });

  it('knows that a session is open before anything else has happened', () => {
    expect(summarize(session()).sessionOpen).toBe(true);
    expect(summarize(session(), session({ status: 'aborted' })).sessionOpen).toBe(false);
  });
});

describe('the result line (R250)', () => {
  it('has exactly these keys in this order', () => {
    const line = resultLine(summarize(chunk('x'), done({ status: 'stopped' })), 5);
    expect(JSON.stringify(line)).toBe(
      '{"type":"result","version":1,"status":"stopped","exitCode":5,"requestId":"r1","receipts":[],"paused":[],' +
        '"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"reasoningTokens":0}}',
    );
  });

  it('says what was not stored, when something was not', () => {
    const notStored = { turnEvents: 3, conversations: 1, traceEvents: 0, spans: 0 };
    expect(resultLine(EMPTY_SUMMARY, 0, notStored)).toMatchObject({ notStored });
  });

  it.each([
    [2, 'error'],
    [4, 'error'],
    [3, 'paused'],
    [130, 'aborted'],
    [0, 'complete'],
  ] as const)('calls exit code %i without a turn %s', (exitCode, status) => {
    expect(resultLine(EMPTY_SUMMARY, exitCode)).toMatchObject({ status, requestId: null });
  });
});
