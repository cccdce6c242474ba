import type { TraceEvent, TraceInput } from '@orion/contracts';
import fastCheck from 'fast-check';
import { expect, test } from 'vitest';
import { prepareTrace } from '../safety/trace-event.ts';
import { formatTimeline } from './format-timeline.ts';

const START = Date.UTC(2026, 0, 1, 12, 30, 1);

type Step = readonly [at: number, type: string, more?: Partial<TraceInput>];

const turn = (steps: readonly Step[]): TraceEvent[] =>
  steps.map(([at, type, more], index) => ({
    id: index + 1,
    ...prepareTrace({ type, requestId: 'r1', timestamp: START + at, ...more }, 0).event,
  }));

const usage = { inputTokens: 12_345, outputTokens: 67, cachedTokens: 12_000, reasoningTokens: 0 };

test('a question to a person shows what was asked, the decision, and how long it took', () => {
  const asked = (id: string, summary: string): Partial<TraceInput> => ({
    summary,
    details: { approvalId: id, kind: 'write', hash: '00' },
  });
  const events = turn([
    [0, 'turn_started'],
    [10, 'approval_requested', asked('a', 'overwrite a.txt')],
    [
      4010,
      'approval_decided',
      { summary: 'no', details: { approvalId: 'a', decision: 'no', reason: 'Not there.' } },
    ],
    [5000, 'approval_requested', asked('b', 'run ls')],
    [6000, 'approval_decided', { details: { approvalId: 'of an earlier part', decision: 'yes' } }],
  ]);
  expect(formatTimeline(events).split('\n').slice(5)).toEqual([
    '  +0.010    asked  overwrite a.txt, no, because Not there.                 4.0 s',
    '  +5.000    asked  run ls                                                 no end',
    '  +6.000    decided  yes',
    '',
  ]);
});

test('a turn is phases, model calls, tools and writes with durations and tokens', () => {
  const events = turn([
    [0, 'turn_started', { details: { task: 'message', protocol: 'standard' } }],
    [3, 'phase_start', { phaseIndex: 0, details: { phase: 'action' } }],
    [
      4,
      'llm_call',
      { phaseIndex: 0, details: { model: 'm-1', messages: 2, tools: 7, purpose: 'chat' } },
    ],
    [1804, 'llm_result', { phaseIndex: 0, details: { finish: 'stop', usage } }],
    [1805, 'phase_end', { phaseIndex: 0, details: { phase: 'action', reason: 'stop' } }],
    [1806, 'phase_start', { phaseIndex: 1, details: { phase: 'tool' } }],
    [1806, 'tool_call', { toolName: 'read', details: { callId: 'c1', treatment: 'run' } }],
    [1807, 'tool_call', { toolName: 'drop', details: { callId: 'c2', treatment: 'refused' } }],
    [1850, 'tool_executed', { toolName: 'read', details: { callId: 'c1', attempts: 1 } }],
    [
      1851,
      'tool_result',
      {
        toolName: 'read',
        details: { callId: 'c1', success: true, attempts: 1, contentLength: 2040 },
      },
    ],
    [1900, 'write_session_started', { sessionId: 's1', details: { bytes: 0, lines: 0 } }],
    [5000, 'write_session_saved', { sessionId: 's1', details: { bytes: 100 } }],
    [9000, 'write_session_saved', { sessionId: 's1', details: { bytes: 200 } }],
    [9100, 'write_session_finalize_started', { sessionId: 's1', details: { bytes: 300 } }],
    [9200, 'write_session_finalized', { sessionId: 's1', details: { bytes: 300, lines: 12 } }],
    [9300, 'error_occurred', { error: { code: 'PROVIDER_ERROR', message: 'no' } }],
    [80_000, 'turn_ended', { details: { status: 'done', stopReason: 'completed' } }],
  ]);
  expect(formatTimeline(events)).toBe(
    `turn r1
2026-01-01 12:30:01 UTC · done · 1m20s
1 model call · 12,345 tokens in, 67 out · 1 tool · 1 file · 1 error

  +0.000  turn started  task=message, protocol=standard
  +0.003  phase 0  action, stop                                            1.8 s
  +0.004    model  m-1, 12,345 in (12,000 cached), 67 out, stop, 2 me…     1.8 s
  +1.806  phase 1  tool                                                   no end
  +1.806    tool read  ok, 2,040 characters                                45 ms
  +1.807    tool drop  refused
  +1.900  write s1  finalized, 12 lines, 300 bytes                         7.3 s
  +9.300    error occurred  PROVIDER_ERROR: no
 +80.000  turn ended  done, because completed
`,
  );
});

test('each event in its own form, with what is left out of it (80 columns and more)', () => {
  const events = turn([
    [0, 'llm_call', { details: { model: 'm-1', purpose: 'final', messages: 1, tools: 1 } }],
    [
      999,
      'llm_result',
      {
        details: {
          finish: 'length',
          usage: { inputTokens: 1, outputTokens: 2, cachedTokens: 1, reasoningTokens: 1 },
        },
      },
    ],
    [
      1_000,
      'llm_call',
      { phaseIndex: 1, details: { model: 'm-1', purpose: 'answer', messages: 1_234, tools: 0 } },
    ],
    [
      60_999,
      'llm_result',
      { phaseIndex: 1, details: { finish: 'stop', usage: { inputTokens: 1_234_567 } } },
    ],
    [61_000, 'llm_result', { phaseIndex: 2, details: { finish: 'stop', usage: null } }],
    [61_000, 'phase_start', {}],
    [61_000, 'phase_end', { phaseIndex: 4, details: { reason: 'stop' } }],
    [61_000, 'tool_call', { toolName: 'a', details: { callId: 'a', treatment: 'run' } }],
    [61_000, 'tool_call', { toolName: 'b', details: { callId: 'b', treatment: 'run' } }],
    [61_000, 'tool_call', { details: { treatment: 'ignored' } }],
    [
      121_000,
      'tool_result',
      {
        toolName: 'b',
        error: { code: 'X', message: 'y' },
        details: { callId: 'b', success: false, attempts: 3, contentLength: 1 },
      },
    ],
    [121_000, 'tool_result', { error: { odd: 1 }, details: { callId: 'z' } }],
    [121_000, 'tool_executed', { toolName: 'a', details: { callId: 'a' } }],
    [
      4_500_000,
      'tool_result',
      {
        toolName: 'a',
        details: { callId: 'a', success: true, attempts: 1, contentLength: 0 },
      },
    ],
    [4_500_000, 'write_session_recovered', { sessionId: 's1', details: { target: 'a.md' } }],
    [4_500_000, 'write_session_started', { sessionId: 's2', details: {} }],
    [4_500_000, 'write_session_saved', { sessionId: 's2', details: { bytes: 1 } }],
    [4_500_001, 'write_session_saved', { sessionId: 's2', details: {} }],
    [4_500_010, 'write_session_paused', { sessionId: 's2', details: { code: 'PROVIDER_ERROR' } }],
    [4_500_020, 'write_session_discarded', { sessionId: 's1', details: {} }],
    [4_500_030, 'write_session_finalize_started', { sessionId: 's3', details: { bytes: 3 } }],
    [4_500_030, 'write_session_finalized', { sessionId: 's3', details: { bytes: 3, lines: 1 } }],
    [4_500_030, 'write_session_started', { sessionId: 's4', details: {} }],
    [4_500_031, 'write_session_saved', { sessionId: 's4', details: { bytes: 2 } }],
    [4_500_040, 'write_session_seam_joined', { sessionId: 's4', details: { line: 7 } }],
    [4_500_050, 'turn_ended', { error: 'odd', details: {} }],
  ]);
  expect(formatTimeline(events, { columns: 100 })).toBe(
    `turn r1
2026-01-01 12:30:01 UTC · not ended · 1h15m
2 model calls · 1,234,568 tokens in, 2 out · 2 tools · 1 file · 3 errors

  +0.000    model  m-1, 1 in (1 cached), 2 out (1 reasoning), length, final, 1 message, 1…    999 ms
  +1.000    model  m-1, stop, answer, 1,234 messages                                          60.0 s
 +61.000    model answer  stop
 +61.000  phase ?                                                                             no end
 +61.000  phase end  stop
 +61.000    tool a  ok, 0 characters                                                           1h14m
 +61.000    tool b  failed, X: y, 3 attempts, 1 character                                      1m00s
 +61.000    tool ?  ignored
+121.000    tool ?  ok, {"odd":1}
+4500.000  write a.md  recovered, discarded                                                    20 ms
+4500.000  write s2  saved 1 byte, paused, PROVIDER_ERROR                                      10 ms
+4500.030    write finalize started  bytes=3
+4500.030  write s3  finalized, 1 line, 3 bytes
+4500.030  write s4  saved 2 bytes                                                            no end
+4500.040    write seam joined  line=7
+4500.050  turn ended
`,
  );
});

test('never less than 40 columns, eight details, and a thousand characters of each', () => {
  const details = { a: 0, b: null, c: { d: 1 }, e: true, f: 'x', g: 5, h: 6, i: 7, j: 8 };
  const odd = turn([[0, 'odd', { toolName: 't', details }]]).map((event) => ({
    ...event,
    requestId: null,
  }));
  expect(formatTimeline(odd, { columns: 120.9 })).toBe(
    `turn -
2026-01-01 12:30:01 UTC · not ended · 0 ms
0 model calls · 0 tokens in, 0 out · 0 tools · 0 files

  +0.000    odd  t, a=0, e=true, f=x, g=5, h=6, i=7
`,
  );
  const wide = turn([[0, 'odd', { summary: '界'.repeat(30) }]]);
  const shown = `turn r1
2026-01-01 12:30:01 UTC · not ended · 0…
0 model calls · 0 tokens in, 0 out · 0…

  +0.000    odd  ${'界'.repeat(11)}…
`;
  expect(formatTimeline(wide, { columns: 3 })).toBe(shown);
  expect(formatTimeline(wide, { columns: 40 })).toBe(shown);
  const long = turn([
    [0, 'odd', { error: { odd: 'e'.repeat(2_000) } }],
    [0, 'odd', { details: { a: 'q'.repeat(2_000) } }],
  ]);
  const [, , , , error = '', detail = ''] = formatTimeline(long, { columns: 9_000 }).split('\n');
  expect([error.length, detail.length]).toEqual([1_010, 1_010]);
});

test('an act without an end, an end without a beginning and an unknown event are all shown', () => {
  const text = formatTimeline(
    turn([
      [0, 'llm_call', { phaseIndex: 0, details: { model: 'm-1' } }],
      [
        10,
        'tool_result',
        { toolName: 'grep', error: 'plain', details: { callId: 'x', success: false } },
      ],
      [20, 'write_session_saved', { sessionId: 's9', details: { bytes: 5 } }],
      [30, 'something_new', { summary: 'of a later version', details: { a: 1, nested: { b: 2 } } }],
    ]),
  );
  expect(text).toContain('not ended');
  expect(text).toMatch(/model {2}m-1 +no end/);
  expect(text).toContain('tool grep  failed, plain');
  expect(text).toContain('write saved  bytes=5');
  expect(text).toContain('something new  of a later version, a=1');
});

test('a second end is a line of its own, and a write without a name has a question mark', () => {
  const result = { toolName: 'a', details: { callId: 'c', success: true } };
  const text = formatTimeline(
    turn([
      [0, 'tool_call', { toolName: 'a', details: { callId: 'c', treatment: 'run' } }],
      [1, 'tool_result', result],
      [2, 'tool_result', result],
      [3, 'write_session_started'],
    ]),
    { columns: 40 },
  );
  expect(text.split('\n').slice(4, -1)).toEqual([
    '  +0.000    tool a  ok              1 ms',
    '  +0.002    tool a  ok',
    '  +0.003  write ?                 no end',
  ]);
});

test('no line is wider than the columns or acts on a terminal, whatever was recorded', () => {
  const anyText = fastCheck
    .array(
      fastCheck.oneof(
        fastCheck.integer({ min: 0, max: 0x9f }),
        fastCheck.integer({ min: 0, max: 0xffff }),
      ),
    )
    .map((units) => String.fromCharCode(...units));
  const types = [
    'llm_call',
    'llm_result',
    'tool_call',
    'tool_result',
    'write_session_started',
    'x',
  ];
  fastCheck.assert(
    fastCheck.property(
      fastCheck.array(
        fastCheck.tuple(fastCheck.constantFrom(...types), anyText, fastCheck.anything()),
        { minLength: 1, maxLength: 8 },
      ),
      fastCheck.integer({ min: 40, max: 200 }),
      (steps, columns) => {
        const events = turn(
          steps.map(([type, text, details], index): Step => [
            index,
            type,
            {
              toolName: text,
              summary: text,
              sessionId: text,
              requestId: text,
              error: text,
              details,
            },
          ]),
        );
        const text = formatTimeline(events, { columns });
        for (const line of text.split('\n')) {
          expect([...line].length).toBeLessThanOrEqual(columns);
          // oxlint-disable-next-line no-control-regex -- none of them may be left
          expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
        }
        expect(text.split('\n').length).toBeGreaterThan(4);
      },
    ),
  );
});

test('nothing recorded is said, and wide characters count twice', () => {
  expect(formatTimeline([])).toBe('Nothing was recorded.\n');
  const text = formatTimeline(turn([[0, 'x', { summary: '日'.repeat(100) }]]));
  const line = text.split('\n').find((each) => each.includes('日')) ?? '';
  expect([...line].filter((character) => character === '日').length).toBeLessThanOrEqual(40);
  expect(line).toContain('…');
});
