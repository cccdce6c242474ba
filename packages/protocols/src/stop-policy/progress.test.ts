import { createTurnState } from '@orion/contracts';
import type { JsonValue, ToolResult } from '@orion/contracts';
import { callsReply, textOf, textReply, toolCall } from '@orion/testkit';
import type { FakeReply, FakeTool } from '@orion/testkit';
import { expect, test } from 'vitest';
import { NUDGE } from '../base/stop-notices.ts';
import { createStandardProtocol } from '../standard/standard-protocol.ts';
import { notePhase } from './progress.ts';
import { runProtocol } from '../testing/run-protocol.ts';

const ran = (signature: string, result: JsonValue, pollable = false) => ({
  signature,
  pollable,
  result: {
    success: true,
    result,
    toolCallId: '1',
    toolName: 't',
    details: {},
    attempts: 1,
  } as ToolResult,
});

test('a phase is news when a call or a result is new (R169)', () => {
  const { progress } = createTurnState();
  expect(notePhase(progress, [ran('a', 1)])).toBe(false);
  expect(notePhase(progress, [ran('b', 1)])).toBe(false);
  expect(notePhase(progress, [ran('a', 2)])).toBe(false);
  expect(progress.idlePhases).toBe(0);
  expect(notePhase(progress, [ran('a', 1), ran('b', 2)])).toBe(true);
  expect(notePhase(progress, [ran('a', 1), ran('c', 1)])).toBe(false);
  expect(progress.idlePhases).toBe(0);
});

test('two calls that alternate are found like one that repeats', () => {
  const { progress } = createTurnState();
  for (const signature of ['a', 'b']) notePhase(progress, [ran(signature, signature)]);
  for (const signature of ['a', 'b']) notePhase(progress, [ran(signature, signature)]);
  expect(progress.idlePhases).toBe(2);
});

test('waiting for a pollable tool is neither progress nor a circle, going back to it is', () => {
  const { progress } = createTurnState();
  for (let poll = 0; poll < 5; poll++) notePhase(progress, [ran('job', 'running', true)]);
  expect(progress.idlePhases).toBe(0);
  notePhase(progress, [ran('other', 'x', true)]);
  notePhase(progress, [ran('job', 'running', true)]);
  notePhase(progress, [ran('other', 'x', true)]);
  expect(progress.idlePhases).toBe(2);
});

test('a phase without an executed call is none', () => {
  const { progress } = createTurnState();
  notePhase(progress, [ran('a', 1)]);
  notePhase(progress, [ran('a', 1)]);
  notePhase(progress, []);
  expect(progress.idlePhases).toBe(1);
});

const run = (replies: readonly FakeReply[], tool: FakeTool, maxIdleToolPhases?: number) =>
  runProtocol(
    createStandardProtocol(),
    replies,
    { poll: tool, other: tool },
    { config: { limits: { standard: { maxIterations: 20 } }, maxIdleToolPhases } },
  );

const pollable: FakeTool = {
  effect: 'read',
  pollable: true,
  run: () => ({ success: true, result: 'same' }),
};

test('going in circles is nudged once, then blocked, then answered (R169, R170)', async () => {
  const calls = ['poll', 'other', 'poll', 'other'].map((name, index) =>
    callsReply([toolCall(String(index), name)]),
  );
  const { adapter, events, outcome, traceService } = await run(
    [...calls, textReply('It is the same.')],
    pollable,
  );
  // The nudge comes before the fourth call, the block before the fifth.
  expect(adapter.requests[3]?.messages.at(-1)).toEqual({ role: 'system', content: NUDGE });
  expect(textOf(events, 'notice').split(NUDGE)).toHaveLength(2);
  expect(adapter.requests[4]?.options.tools).toBeUndefined();
  expect(outcome).toMatchObject({ kind: 'stopped', stopReason: 'progress' });
  expect(textOf(events)).toBe('It is the same.');
  expect(traceService.ofType('budget_exhausted')).toMatchObject([
    { details: { stopReason: 'progress', limit: 'maxIdleToolPhases', value: 2 } },
  ]);
});

test('a pollable tool may be asked the same again in a row', async () => {
  const calls = Array.from({ length: 6 }, (_, index) =>
    callsReply([toolCall(String(index), 'poll')]),
  );
  const { outcome, toolRegistry } = await run([...calls, textReply('Ready.')], pollable);
  expect(toolRegistry.ran).toHaveLength(6);
  expect(outcome.kind).toBe('complete');
});

test('a failure that may pass is tried once more and counted', async () => {
  const busy: FakeTool = {
    effect: 'read',
    run: () => ({
      success: false,
      error: { code: 'TOOL_FAILED', message: 'busy', retryable: true },
    }),
  };
  const { outcome, toolRegistry } = await run(
    [
      callsReply([toolCall('1', 'poll')]),
      callsReply([toolCall('2', 'poll')]),
      textReply('It is busy.'),
    ],
    busy,
    1,
  );
  expect(toolRegistry.ran).toEqual(['1', '2']);
  expect(outcome).toMatchObject({ kind: 'stopped', stopReason: 'progress' });
});
