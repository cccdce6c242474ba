import type { TraceEvent } from '@orion/contracts';
import fastCheck from 'fast-check';
import { expect, test } from 'vitest';
import { prepareTrace } from '../safety/trace-event.ts';
import { MAX_TRACE_LINE, formatTraceLine } from './format-trace-line.ts';

const event = (input: Parameters<typeof prepareTrace>[0]): TraceEvent => ({
  id: 1,
  ...prepareTrace(input, Date.UTC(2026, 0, 1, 12, 30, 1, 5)).event,
});

/** Any UTF-16 units, control characters and lone surrogates among them. */
const anyText = fastCheck
  .array(
    fastCheck.oneof(
      fastCheck.integer({ min: 0, max: 0xff }),
      fastCheck.integer({ min: 0, max: 0xffff }),
      fastCheck.integer({ min: 0xd800, max: 0xdfff }),
    ),
    { maxLength: 2000 },
  )
  .map((units) => String.fromCharCode(...units));

test('shows what an event is about in one line', () => {
  const line = formatTraceLine(
    event({
      type: 'tool_result',
      toolName: 'read_file',
      phaseIndex: 0,
      cycleIndex: 0,
      summary: 'a.txt',
      details: { success: true },
    }),
  );
  expect(line).toBe('12:30:01.005 tool_result read_file phase=0 cycle=0 a.txt {"success":true}');
});

test('an event without details or error says nothing of them', () => {
  expect(formatTraceLine(event({ type: 'paused', error: { code: 'X' } }))).toBe(
    '12:30:01.005 paused error={"code":"X"}',
  );
});

test('escapes what a terminal would act on', () => {
  const summary = 'a\u001b[31m\r\nb\u009b\u202e\u2028\u{e0041}\ud800';
  expect(formatTraceLine({ ...event({ type: 'x' }), summary })).toBe(
    '12:30:01.005 x a\\u{1b}[31m\\u{d}\\u{a}b\\u{9b}\\u{202e}\\u{2028}\\u{e0041}\\u{d800}',
  );
});

test('is one safe line of at most 500 characters whatever it shows', () => {
  fastCheck.assert(
    fastCheck.property(anyText, fastCheck.anything(), (text, details) => {
      const line = formatTraceLine(
        event({ type: text, toolName: text, summary: text, sessionId: text, details }),
      );
      expect(line.length).toBeLessThanOrEqual(MAX_TRACE_LINE);
      // oxlint-disable-next-line no-control-regex -- none of them may be left
      expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
      expect(line.isWellFormed()).toBe(true);
    }),
  );
});

test('a time that is no date does not break the line', () => {
  expect(formatTraceLine(event({ type: 'x', timestamp: 1e300 }))).toContain('x');
});
