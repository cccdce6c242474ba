import { describe, expect, it } from 'vitest';

import { done, event, PAUSED, RECEIPT, session } from '../testing/events.ts';
import { advance, STARTING } from './controller.ts';
import { addToFacts, inConversation, NO_FACTS, withoutSession, type ChatFacts } from './facts.ts';
import { shortCount, viewOf } from './view.ts';

/** Hazard: the status line tells what is not so, or the exit code forgets an unfinished file. */

const STATUS = { model: 'm', mode: 'act', contextLimit: null } as const;
const USAGE = { inputTokens: 12_000, outputTokens: 400, cachedTokens: 0, reasoningTokens: 0 };

const after = (...events: Parameters<typeof addToFacts>[1][]): ChatFacts =>
  events.reduce((facts, each, index) => addToFacts(facts, each, index * 1000), NO_FACTS);

describe('the facts', () => {
  it('count an unfinished session until it has an outcome', () => {
    expect(after(session()).unfinished).toEqual(['s1']);
    expect(after(session(), session({ paused: PAUSED })).unfinished).toEqual(['s1']);
    expect(after(session(), session({ status: 'done', receipt: RECEIPT })).unfinished).toEqual([]);
    expect(after(session(), session({ status: 'aborted' })).unfinished).toEqual([]);
  });

  it('sum up what was written and used, and end with the turn', () => {
    const facts = after(
      session(),
      session({ status: 'session_active.finalizing' }),
      session({ status: 'done', receipt: { ...RECEIPT, backup_id: 'b1' } }),
      event({ type: 'usage', ...USAGE }),
      event({ type: 'usage', ...USAGE, inputTokens: 20_000 }),
      done({ fullContent: 'An answer' }),
    );
    expect(facts).toMatchObject({
      conversationId: 'c1',
      committing: false,
      progress: null,
      contextTokens: 20_400,
      usage: { inputTokens: 32_000, outputTokens: 800 },
      kept: { files: 1, bytes: 2052 },
      backups: ['b1'],
      lastAnswer: 'An answer',
    });
    expect(addToFacts(facts, done(), 9000).lastAnswer).toBe('An answer');
    expect(inConversation(facts, null)).toMatchObject({
      conversationId: null,
      contextTokens: null,
      backups: [],
      lastAnswer: '',
      kept: { files: 1 },
    });
    // An event that tells nothing else names the conversation.
    const phase = event({ type: 'phase', phase: 'action', index: 0 });
    expect(addToFacts(NO_FACTS, phase, 0)).toEqual({ ...NO_FACTS, conversationId: 'c1' });
    expect(after(session(), session({ paused: PAUSED })).paused).toBe(PAUSED);
    expect(after(session({ paused: PAUSED }), session()).paused).toBe(PAUSED);
    expect(withoutSession(after(session()), 's1').unfinished).toEqual([]);
    const call = { type: 'tool_progress', callId: '1', toolName: 't', message: 'm' } as const;
    const result = {
      type: 'tool_result',
      callId: '1',
      toolName: 't',
      ok: true,
      summary: '',
    } as const;
    expect(after(event(call)).toolProgress).toBe('t: m');
    expect(after(event(call), event(result)).toolProgress).toBeNull();
  });

  it('add up what is known to cost something', () => {
    const price = { input: 10, cached: 1, output: 100 };
    const usage = event({ type: 'usage', ...USAGE, cachedTokens: 2000 });
    const unknown = addToFacts(NO_FACTS, usage, 0);
    expect(unknown.cost).toBeNull();
    const once = addToFacts(unknown, usage, 0, price);
    expect(once.cost).toBeCloseTo(0.142, 9);
    expect(addToFacts(once, usage, 0, price).cost).toBeCloseTo(0.284, 9);
    expect(addToFacts(once, usage, 0).cost).toBeCloseTo(0.142, 9);
  });

  it('say while a file is being changed', () => {
    const finalizing = session({ status: 'session_active.finalizing' });
    expect(after(session()).committing).toBe(false);
    expect(after(session(), finalizing).committing).toBe(true);
    expect(after(session(), finalizing, done()).committing).toBe(false);
  });
});

describe('the view', () => {
  const idle = advance(STARTING, { type: 'job_ended' }).state;
  const waiting = {
    key: 1,
    storedId: null,
    input: { kind: 'prompt', typed: ' a', text: 'a' },
  } as const;
  const working = advance(idle, { type: 'sent', waiting }).state;
  const view = (
    state: typeof idle,
    facts = NO_FACTS,
    status: Parameters<typeof viewOf>[2] = STATUS,
  ) => viewOf(state, facts, status, { busySince: state === idle ? null : 1000, now: 4500 });

  it('is busy while a job runs, but not while the conversation starts', () => {
    expect(view(idle)).toMatchObject({ busy: false, activity: null });
    expect(view(STARTING).busy).toBe(false);
    expect(view(working)).toMatchObject({ busy: true, activity: 'Working  0:03' });
    const stopping = advance(working, { type: 'stop' }).state;
    expect(view(stopping).activity).toMatch(/^Stopping/u);
    expect(view(advance(stopping, { type: 'leave' }).state).activity).toMatch(/^Leaving/u);
  });

  it('shows the file that is written, or what the tool says', () => {
    const writing = after(session(), session({ bytes: 100, lines: 2, durableBytes: 100 }));
    expect(view(working, writing).activity).toMatch(
      /^docs\/n\.txt {2}2 lines {2}100 B .*all saved/u,
    );
    const calling = after(
      event({ type: 'tool_progress', callId: '1', toolName: 'run_command', message: 'line 7' }),
    );
    expect(view(working, calling).activity).toBe('run_command: line 7  0:03');
  });

  it('shows what waits as it was typed, and the first question', () => {
    const both = advance(working, { type: 'sent', waiting: { ...waiting, key: 2 } }).state;
    expect(view(both).queued).toEqual([' a']);
    const question = { kind: 'pick', id: 1, text: '?', items: [] } as const;
    const asked = advance(both, { type: 'asked', question }).state;
    const again = advance(asked, { type: 'asked', question: { ...question, id: 2 } }).state;
    expect(view(again).question).toBe(question);
  });

  it('works at nothing and stops nothing while it waits for an answer', () => {
    const question = { kind: 'pick', id: 1, text: '?', items: [] } as const;
    const asked = advance(working, { type: 'asked', question }).state;
    expect(view(asked)).toMatchObject({ busy: true, activity: null, status: ['m', 'act'] });
    expect(view(asked, after(session())).activity).toMatch(/^docs\/n\.txt/u);
  });

  it('has only what is known in the status line', () => {
    expect(view(idle).status).toEqual(['m', 'act', '/ commands, @ files']);
    expect(view(working).status).toEqual(['m', 'act', 'Esc stops']);
    const stopping = advance(working, { type: 'stop' }).state;
    expect(view(stopping).status).toEqual(['m', 'act', 'Ctrl-C leaves']);
    expect(view(advance(stopping, { type: 'leave' }).state).status).toEqual(['m', 'act']);
    const facts = after(
      session(),
      session({ status: 'done', receipt: RECEIPT }),
      event({ type: 'usage', ...USAGE }),
    );
    expect(view(idle, facts).status).toEqual([
      'm',
      'act',
      '12.4k tokens',
      '1 file, 2.1 kB kept',
      '/ commands, @ files',
    ]);
    const known = { ...STATUS, contextLimit: 400_000 };
    expect(view(idle, { ...facts, cost: 0.421 }, known).status).toEqual([
      'm',
      'act',
      '12.4k of 400k tokens',
      '1 file, 2.1 kB kept',
      '$0.42',
      '/ commands, @ files',
    ]);
  });

  it.each([
    [0, '$0.00'],
    [0.00234, '$0.002'],
    [0.0123, '$0.01'],
    [12.345, '$12.35'],
  ])('shows a cost of %d as %s', (cost, text) => {
    expect(view(idle, { ...NO_FACTS, cost }).status.at(-2)).toBe(text);
  });

  it.each([
    [0, '0'],
    [999, '999'],
    [1000, '1k'],
    [1234, '1.2k'],
    [99_949, '99.9k'],
    [128_000, '128k'],
    [1_000_000, '1000k'],
  ])('shortens %d to %s', (count, text) => {
    expect(shortCount(count)).toBe(text);
  });
});
