import type { RunEvent, RunEventBody, TurnStreamEvent } from '@orion/contracts';
import fastCheck from 'fast-check';
import { describe, expect, it } from 'vitest';

import { EMPTY_TURN, foldEvents } from './fold-events.ts';
import { textOf } from './turn-view.ts';
import type { TurnView } from './turn-view.ts';

/** Hazard: what a connection does to the events (repeats, gaps, resets) shows in the view, or a hostile one breaks it. */

/** The generators of fast-check take seconds to be made. */
const codePoint = fastCheck
  .integer({ min: 0, max: 0x10ffff })
  .map((code) => String.fromCodePoint(code));

const BASE = {
  requestId: 'r',
  projectId: 'p',
  conversationId: 'c',
  protocol: 'standard',
  phase: 'action',
  phaseIndex: 1,
  cycleIndex: 1,
} as const;

type Body = RunEventBody;

function logOf(bodies: readonly Body[]): RunEvent[] {
  return bodies.map((body, index) => ({ ...body, ...BASE, seq: index + 1 }) as RunEvent);
}

const said = (content: string): Body => ({ type: 'chunk', content, source: 'model' });
const session = (bytes: number, more: object = {}): Body => ({
  type: 'write_session',
  sessionId: 's',
  status: 'session_active.awaiting_content',
  targetFile: 'a.md',
  operation: 'create',
  bytes,
  lines: 0,
  durableBytes: 0,
  ...more,
});
const content = (offset: number, length: number, durableBytes?: number): Body => ({
  type: 'write_chunk',
  sessionId: 's',
  offset,
  length,
  content: null,
  ...(durableBytes === undefined ? {} : { durableBytes }),
});

const asked = (approvalId: string): Body => ({
  type: 'approval_requested',
  approvalId,
  sessionId: 's',
  action: { kind: 'write', intent: 'test', changes: [] },
  hash: '00',
  expiresAt: 1,
});

const text = fastCheck.oneof(
  fastCheck.string({ unit: codePoint, maxLength: 20 }),
  fastCheck.constantFrom('<img onerror=x>', '\u202e', '\u{e0041}', '__proto__', '```', '\0'),
);
const id = fastCheck.constantFrom('s', 't', '__proto__', 'constructor');
const count = fastCheck.nat(5000);

const body: fastCheck.Arbitrary<Body> = fastCheck.oneof(
  {
    weight: 4,
    arbitrary: fastCheck.record({
      type: fastCheck.constant('chunk' as const),
      content: text,
      source: fastCheck.constantFrom('model' as const, 'notice' as const),
    }),
  },
  fastCheck.tuple(text, id).map(([given, call]) => ({
    type: 'tool_calls' as const,
    calls: [{ id: call, name: given, arguments: given }],
  })),
  fastCheck.tuple(text, id, fastCheck.boolean()).map(([summary, callId, ok]) => ({
    type: 'tool_result' as const,
    callId,
    toolName: summary,
    ok,
    summary,
  })),
  fastCheck.tuple(id, text).map(([callId, message]) => ({
    type: 'tool_progress' as const,
    callId,
    toolName: 't',
    message,
  })),
  fastCheck
    .tuple(id, count, count)
    .map(
      ([sessionId, bytes, durableBytes]) =>
        ({ ...session(bytes), sessionId, durableBytes }) as Body,
    ),
  fastCheck
    .tuple(id, count, count, count)
    .map(
      ([sessionId, offset, length, synced]) =>
        ({ ...content(offset, length, synced), sessionId }) as Body,
    ),
  fastCheck
    .tuple(id, count)
    .map(([sessionId, toOffset]) => ({ type: 'write_rewind' as const, sessionId, toOffset })),
  fastCheck
    .tuple(id, count, count, count)
    .map(([sessionId, receivedBytes, savedBytes, durableBytes]) => ({
      type: 'write_progress' as const,
      sessionId,
      receivedBytes,
      savedBytes,
      durableBytes,
      lines: 1,
    })),
  fastCheck.tuple(id, count, count).map(
    ([sessionId, bytes, line]) =>
      ({
        ...session(bytes, {
          seam: { line, status: 'verified', via: 'tail', lines_dropped: 0, text_set_aside: 0 },
        }),
        sessionId,
      }) as Body,
  ),
  count.map((tokens) => ({
    type: 'usage' as const,
    inputTokens: tokens,
    outputTokens: 1,
    cachedTokens: 0,
    reasoningTokens: 0,
  })) as fastCheck.Arbitrary<Body>,
  fastCheck.constant({ type: 'done', status: 'complete' }) as unknown as fastCheck.Arbitrary<Body>,
  fastCheck.nat(40).map((toSeq) => ({ type: 'rewind' as const, toSeq })),
  text.map((message) => ({
    type: 'error' as const,
    error: { code: 'PROVIDER_ERROR' as const, message, retryable: false },
  })) as fastCheck.Arbitrary<Body>,
  id.map((approvalId) => asked(approvalId)),
  fastCheck.tuple(id, text).map(([approvalId, reason]) => ({
    type: 'approval_decided' as const,
    approvalId,
    decision: 'no' as const,
    reason,
  })),
  text.map((type) => ({
    type: `new ${type}`,
    data: { type },
  })) as unknown as fastCheck.Arbitrary<Body>,
  fastCheck.constant({ type: 'phase', phase: 'tool', index: 2 } as const),
);

/** What a connection may do between the log and a reader. */
type Fault =
  | { readonly kind: 'repeat' | 'skip'; readonly count: number }
  | { readonly kind: 'reset' }
  | { readonly kind: 'pass'; readonly count: number };
const fault: fastCheck.Arbitrary<Fault> = fastCheck.oneof(
  {
    weight: 4,
    arbitrary: fastCheck.record({
      kind: fastCheck.constant('pass' as const),
      count: fastCheck.nat(8),
    }),
  },
  fastCheck.record({
    kind: fastCheck.constantFrom('repeat' as const, 'skip' as const),
    count: fastCheck.nat(8),
  }),
  fastCheck.constant({ kind: 'reset' } as const),
);

/** Reads the log over a connection with these faults, and then over one without. */
function readThrough(log: readonly RunEvent[], faults: readonly Fault[]): TurnView {
  let view = EMPTY_TURN;
  let at = 0;
  const take = (events: readonly TurnStreamEvent[]): void => {
    const fold = foldEvents(view, events);
    ({ view } = fold);
    if (fold.hasGap) at = view.lastSeq;
  };
  for (const step of [...faults, { kind: 'pass', count: log.length } as const]) {
    switch (step.kind) {
      case 'reset':
        at = 0;
        take([{ type: 'reset', toSeq: 0 }]);
        break;
      case 'repeat':
        at = Math.max(0, at - step.count);
        break;
      case 'skip':
        at = Math.min(log.length, at + step.count);
        break;
      default:
        // A skip behind the last event would never be noticed: a stream ends with `done`, and is read again without it.
        if (at === log.length) at = view.lastSeq;
        take(log.slice(at, (at += step.count)));
    }
  }
  take(log.slice(view.lastSeq));
  return view;
}

describe('the view of a turn', () => {
  it('follows from the log alone, whatever a connection does to it', () => {
    fastCheck.assert(
      fastCheck.property(
        fastCheck.array(body, { maxLength: 40 }),
        fastCheck.array(fault, { maxLength: 12 }),
        (bodies, faults) => {
          const log = logOf(bodies);
          const clean = foldEvents(EMPTY_TURN, log).view;
          expect(readThrough(log, faults)).toEqual(clean);
          expect(clean.lastSeq).toBe(log.length);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('leaves every earlier view as it was', () => {
    fastCheck.assert(
      fastCheck.property(fastCheck.array(body, { maxLength: 30 }), (bodies) => {
        const views: [TurnView, string][] = [];
        let view = EMPTY_TURN;
        for (const event of logOf(bodies)) {
          ({ view } = foldEvents(view, [event]));
          views.push([view, printed(view)]);
        }
        for (const [earlier, then] of views) expect(printed(earlier)).toBe(then);
      }),
    );
  });

  it('keeps the text that no rewind took back', () => {
    fastCheck.assert(
      fastCheck.property(
        fastCheck.array(
          fastCheck.oneof(
            { weight: 4, arbitrary: text.map(said) },
            fastCheck.nat(30).map((toSeq): Body => ({ type: 'rewind', toSeq })),
            fastCheck.constant<Body>({
              type: 'tool_calls',
              calls: [{ id: 'c', name: 'n', arguments: '' }],
            }),
          ),
          { maxLength: 30 },
        ),
        (bodies) => {
          // By hand: one entry a message part; a rewind clears the model's text behind its number and the last call.
          let kept: { seq: number; text: string }[] = [];
          let lastCall = 0;
          for (const [index, given] of bodies.entries()) {
            if (given.type === 'chunk') kept.push({ seq: index + 1, text: given.content });
            if (given.type === 'tool_calls') lastCall = index + 1;
            if (given.type === 'rewind')
              kept = kept.filter(({ seq }) => seq <= given.toSeq || seq < lastCall);
          }
          const { items } = foldEvents(EMPTY_TURN, logOf(bodies)).view;
          const shown = items.flatMap((item) =>
            item.kind === 'text' && !item.isVoid ? [textOf(item)] : [],
          );
          expect(shown.join('')).toBe(kept.map((part) => part.text).join(''));
          const all = items.flatMap((item) => (item.kind === 'text' ? [textOf(item)] : []));
          expect(all.join('')).toBe(
            bodies.map((given) => (given.type === 'chunk' ? given.content : '')).join(''),
          );
        },
      ),
      { numRuns: 300 },
    );
  });

  it('stops at a gap, and takes nothing behind it', () => {
    const [first, , third] = logOf([said('a'), said('b'), said('c')]) as [
      RunEvent,
      RunEvent,
      RunEvent,
    ];
    const { view, taken, hasGap } = foldEvents(EMPTY_TURN, [first, third]);
    expect([view.lastSeq, taken.length, hasGap]).toEqual([1, 1, true]);
  });

  it('takes any later event behind a reset, also where that came in an earlier call', () => {
    const log = logOf([said('a'), said('b'), said('c'), said('d')]);
    const [, second, , fourth] = log as [RunEvent, RunEvent, RunEvent, RunEvent];
    const reset = { type: 'reset', toSeq: 0 } as const;
    const begun = foldEvents(foldEvents(EMPTY_TURN, log).view, [reset, second]);
    expect([begun.view.lastSeq, begun.hasGap, begun.wasReset]).toEqual([2, false, true]);
    const whole = foldEvents(begun.view, [fourth], true);
    expect([whole.view.lastSeq, whole.hasGap]).toEqual([4, false]);
    expect(foldEvents(begun.view, [fourth]).hasGap).toBe(true);
  });

  it('is the same object when nothing was new', () => {
    const log = logOf([said('a')]);
    const { view } = foldEvents(EMPTY_TURN, log);
    expect(foldEvents(view, log).view).toBe(view);
  });

  it('shows an event of a newer server as it came', () => {
    const log = logOf([{ type: 'whatever', x: 1 } as unknown as Body]);
    expect(foldEvents(EMPTY_TURN, log).view.items).toEqual([
      { kind: 'raw', seq: 1, type: 'whatever', json: JSON.stringify(log[0]) },
    ]);
  });

  it('gives a result to the pending call where a provider uses an id again', () => {
    const call = (name: string): Body => ({
      type: 'tool_calls',
      calls: [{ id: '0', name, arguments: '' }],
    });
    const result = (summary: string): Body => ({
      type: 'tool_result',
      callId: '0',
      toolName: '',
      ok: true,
      summary,
    });
    const log = logOf([call('one'), result('first'), call('two'), result('second')]);
    const results = foldEvents(EMPTY_TURN, log).view.items.map((item) =>
      item.kind === 'call' ? [item.name, item.result?.summary] : [],
    );
    expect(results).toEqual([
      ['one', 'first'],
      ['two', 'second'],
    ]);
  });
});

it('has one row for an approval, asked for again by another process or decided', () => {
  const decided: Body = { type: 'approval_decided', approvalId: 'a', decision: 'expired' };
  const rows = (...bodies: Body[]) =>
    foldEvents(EMPTY_TURN, logOf(bodies)).view.items.map((item) =>
      item.kind === 'approval' ? [item.approvalId, item.seq, item.sessionId, item.outcome] : item,
    );
  expect(rows(asked('a'), asked('b'), asked('a'))).toEqual([
    ['a', 1, 's', null],
    ['b', 2, 's', null],
  ]);
  expect(rows(asked('a'), asked('b'), decided)).toEqual([
    ['a', 1, 's', 'expired'],
    ['b', 2, 's', null],
  ]);
  expect(rows(decided)).toEqual([['a', 1, null, 'expired']]);
});

it('knows which approval a write waits for: the last one, until that is decided', () => {
  const decided = (approvalId: string): Body => ({
    type: 'approval_decided',
    approvalId,
    decision: 'yes',
  });
  const waits = (...bodies: Body[]) =>
    foldEvents(EMPTY_TURN, logOf([session(0), ...bodies])).view.sessions.get('s')?.pendingApproval;
  expect(waits()).toBe(null);
  expect(waits(asked('a'))).toBe('a');
  expect(waits(asked('a'), session(9))).toBe('a');
  expect(waits(asked('a'), decided('a'))).toBe(null);
  expect(waits(asked('a'), asked('b'), decided('a'))).toBe('b');
  expect(waits(asked('a'), decided('b'))).toBe('a');
  // Whoever goes on with the turn asks again.
  expect(waits(asked('a'), asked('a'), decided('a'))).toBe(null);
});

describe('the view of a write', () => {
  const viewOf = (...bodies: Body[]) =>
    foldEvents(EMPTY_TURN, logOf(bodies)).view.sessions.get('s');

  it('knows what is received and what is synced', () => {
    expect(viewOf(session(0), content(0, 10, 4))).toMatchObject({ received: 10, synced: 4 });
    expect(viewOf(session(0), content(0, 10), content(10, 5, 9))).toMatchObject({
      received: 15,
      synced: 9,
    });
  });

  it('knows what is saved from the events that say so, and when saving is held up', () => {
    const progress = (receivedBytes: number, savedBytes: number, durableBytes: number): Body => ({
      type: 'write_progress',
      sessionId: 's',
      receivedBytes,
      savedBytes,
      durableBytes,
      lines: 1,
    });
    expect(viewOf(session(0), content(0, 10))).toMatchObject({ saved: null, isHeldUp: false });
    const held = [session(0), content(0, 10, 2), progress(10, 4, 3)];
    expect(viewOf(...held)).toMatchObject({ received: 10, saved: 4, synced: 3, isHeldUp: true });
    expect(viewOf(...held, content(10, 5, 3))).toMatchObject({ saved: 4, isHeldUp: true });
    expect(viewOf(...held, progress(15, 15, 4))).toMatchObject({ saved: 15, isHeldUp: false });
    expect(viewOf(...held, content(10, 5, 12))).toMatchObject({ saved: 12, isHeldUp: false });
    expect(viewOf(...held, { type: 'write_rewind', sessionId: 's', toOffset: 1 })).toMatchObject({
      received: 1,
      saved: 1,
      synced: 1,
    });
  });

  it('has the number of lines only while it is that of all text', () => {
    expect(viewOf(session(10, { lines: 2 }))).toMatchObject({ lines: 2 });
    expect(viewOf(session(10, { lines: 2 }), content(10, 5))).toMatchObject({ lines: null });
    const marks = { receivedBytes: 15, savedBytes: 15, durableBytes: 0, lines: 3 };
    const progress: Body = { type: 'write_progress', sessionId: 's', ...marks };
    expect(viewOf(session(10, { lines: 2 }), content(10, 5), progress)).toMatchObject({ lines: 3 });
  });

  it('knows from any of its states that a session was recovered', () => {
    expect(viewOf(session(0), content(0, 10))).toMatchObject({ isRecovered: false });
    expect(viewOf(session(0), session(10, { recovered: true }), session(10))).toMatchObject({
      isRecovered: true,
    });
  });

  it('counts text that was taken back as set aside, and never more as synced than there is', () => {
    expect(
      viewOf(session(0), content(0, 10, 10), { type: 'write_rewind', sessionId: 's', toOffset: 4 }),
    ).toMatchObject({ received: 4, synced: 4, setAside: [{ at: 4, bytes: 6 }] });
  });

  it('collects seams as they are made, and takes those of the receipt in the end', () => {
    const seam = {
      line: 3,
      status: 'verified',
      via: 'tail',
      lines_dropped: 1,
      text_set_aside: 0,
      conversion: 'none',
    };
    expect(viewOf(session(0), session(9, { seam }))?.seams).toEqual([seam]);
    const receipt = { seams: [{ ...seam, line: 7 }] };
    expect(viewOf(session(9, { seam }), session(9, { status: 'done', receipt }))?.seams).toEqual(
      receipt.seams,
    );
  });
});

it('costs in proportion, however the events are divided', () => {
  const time = (count: number): number => {
    const bodies = Array.from({ length: count }, (_, index) =>
      index % 2 === 0 ? said('x') : ({ type: 'phase', phase: 'action', index: 1 } as const),
    );
    const log = logOf(bodies);
    const before = process.cpuUsage();
    foldEvents(EMPTY_TURN, log as RunEvent[]);
    return process.cpuUsage(before).user / 1000;
  };
  const least = (count: number): number => Math.min(...[1, 2, 3, 4].map(() => time(count)));
  // Of processor time, quadratic cost would be a hundred times as much, not ten; each is the least of four.
  expect(least(60_000)).toBeLessThan(50 * Math.max(1, least(6000)));
});

function printed(view: TurnView): string {
  return JSON.stringify({ ...view, sessions: [...view.sessions] });
}
