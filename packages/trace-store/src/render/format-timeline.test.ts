import type { TraceEvent, TraceInput } from '@orion/contracts';
import fastCheck from 'fast-check';
import { expect, test } from 'vitest';
import { prepareTraceEvent } from '../safety/trace-event.ts';
import { formatTimeline } from './format-timeline.ts';

const START = Date.UTC(2026, 0, 1, 12, 30, 1);

type Step = readonly [at: number, type: string, more?: Partial<TraceInput>];

const turn = (steps: readonly Step[]): TraceEvent[] =>
  steps.map(([at, type, more], index) => ({
    id: index + 1,
    ...prepareTraceEvent({ type, requestId: 'r1', timestamp: START + at, ...more }, 0),
  }));

const usage = { inputTokens: 12_345, outputTokens: 67, cachedTokens: 12_000, reasoningTokens: 0 };

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
