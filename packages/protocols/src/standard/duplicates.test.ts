import { BEGIN_TOOL_NAME, createTurnState } from '@orion/contracts';
import type { ToolResult, TurnState } from '@orion/contracts';
import {
  callsReply,
  collect,
  createFakeAdapter,
  createFakeToolRegistry,
  createProtocolContext,
  textOf,
  textReply,
  toolCall,
} from '@orion/testkit';
import type { FakeReply, FakeTool } from '@orion/testkit';
import { expect, test } from 'vitest';
import { recordExecuted } from '../calls/executed-calls.ts';
import { createStandardProtocol } from './standard-protocol.ts';
import { runProtocol } from '../testing/run-protocol.ts';

const failure = (retryable: boolean): Partial<ToolResult> => ({
  success: false,
  error: { code: 'TOOL_FAILED', message: 'busy', retryable },
});

const TOOLS: Readonly<Record<string, FakeTool>> = {
  read_file: { effect: 'read', run: (args) => ({ success: true, result: { content: args } }) },
  write_file: { effect: 'write', run: () => ({ success: true, result: 'written' }) },
  run_tests: {
    effect: 'write',
    repeatableAfterWrite: true,
    run: () => ({ success: true, result: 'ran' }),
  },
  broken: { effect: 'read', run: () => failure(false) },
  busy: { effect: 'read', run: () => failure(true) },
  failing_write: { effect: 'write', run: () => failure(false) },
  refused_write: {
    effect: 'write',
    run: () => ({
      success: false,
      error: { code: 'INVALID_TOOL_ARGUMENTS', message: 'no', retryable: false },
      attempts: 0,
    }),
  },
  [BEGIN_TOOL_NAME]: { effect: 'write', run: () => failure(false) },
};

const run = (
  replies: readonly FakeReply[],
  { maxDuplicateAttempts, ...more }: { turnState?: TurnState; maxDuplicateAttempts?: number } = {},
) =>
  runProtocol(createStandardProtocol(), replies, TOOLS, {
    ...more,
    config: { maxDuplicateAttempts },
  });

const call = (id: string, name = 'read_file') => toolCall(id, name, { path: 'a' });

test('the same call is not run twice; the refusal repeats the first result (R167, R173)', async () => {
  const { toolRegistry, codes, events, outcome, traceService, context } = await run([
    callsReply([call('1'), call('2')]),
    textReply('done'),
  ]);
  expect(toolRegistry.ran).toEqual(['1']);
  expect(codes).toEqual(['ok', 'DUPLICATE_BLOCKED']);
  expect(JSON.parse(outcome.appended[2]?.content ?? '')).toMatchObject({
    error: { code: 'DUPLICATE_BLOCKED' },
    earlier_result: { tool_call_id: '1', result: { content: { path: 'a' } } },
  });
  expect(textOf(events, 'notice')).toContain('DUPLICATE_BLOCKED');
  expect(traceService.ofType('duplicate_tool_call')).toMatchObject([
    { toolName: 'read_file', details: { callId: '2', earlierCallId: '1', duplicates: 1 } },
  ]);
  expect(context.turnState.cycleIndex).toBe(1);
});

test('of a long earlier result the start is repeated', async () => {
  const long = toolCall('1', 'read_file', { path: 'x'.repeat(20_000) });
  const { outcome } = await run([callsReply([long, { ...long, id: '2' }]), textReply('done')]);
  const content = JSON.parse(outcome.appended[2]?.content ?? '') as {
    earlier_result: { result_start: string; result_length: number };
  };
  expect(content.earlier_result.result_start).toHaveLength(8192);
  expect(content.earlier_result.result_length).toBeGreaterThan(20_000);
});

test('at the limit of duplicates one answer without tools is asked for (R174)', async () => {
  const { outcome, adapter } = await run(
    [callsReply([call('1'), call('2'), call('3')]), textReply('done')],
    { maxDuplicateAttempts: 2 },
  );
  expect(outcome).toMatchObject({ kind: 'stopped', stopReason: 'duplicates' });
  expect(adapter.requests[1]?.messages.at(-1)).toEqual({
    role: 'system',
    content: 'Maximum duplicate attempts reached. Answer now with existing results.',
  });
});

test('a limit of 0 allows no duplicate, and stops nothing without one', async () => {
  const none = { maxDuplicateAttempts: 0 };
  const stopped = await run([callsReply([call('1'), call('2')]), textReply('done')], none);
  expect(stopped.outcome).toMatchObject({ stopReason: 'duplicates' });
  const complete = await run([callsReply([call('1')]), textReply('done')], none);
  expect(complete.outcome.kind).toBe('complete');
});

test('a write that succeeded makes the same read legal again, but not the same write (R175)', async () => {
  const { codes } = await run([
    callsReply([call('1'), call('2', 'write_file'), call('3'), call('4', 'write_file')]),
    textReply('done'),
  ]);
  expect(codes).toEqual(['ok', 'ok', 'ok', 'DUPLICATE_BLOCKED']);
});

test('one write does not make another one legal again', async () => {
  const other = toolCall('2', 'write_file', { path: 'b' });
  const { codes } = await run([
    callsReply([call('1', 'write_file'), other, call('3', 'write_file')]),
    textReply('done'),
  ]);
  expect(codes).toEqual(['ok', 'ok', 'DUPLICATE_BLOCKED']);
});

test('a command may run again after a write or another command, and not by itself', async () => {
  const tests = (id: string): ReturnType<typeof toolCall> => call(id, 'run_tests');
  const { codes } = await run([
    callsReply([tests('1'), tests('2'), call('3', 'write_file'), tests('4'), tests('5')]),
    callsReply([toolCall('6', 'run_tests', { path: 'b' }), tests('7'), call('8'), tests('9')]),
    textReply('done'),
  ]);
  expect(codes).toEqual([
    'ok',
    'DUPLICATE_BLOCKED',
    'ok',
    'ok',
    'DUPLICATE_BLOCKED',
    'ok',
    'ok',
    'ok',
    'DUPLICATE_BLOCKED',
  ]);
});

test('a call that was refused is no duplicate of itself', async () => {
  const { codes, context } = await run([
    callsReply([call('1', 'nobody'), call('2', 'nobody'), call('3')]),
    textReply('done'),
  ]);
  expect(codes).toEqual(['UNKNOWN_TOOL', 'UNKNOWN_TOOL', 'ok']);
  expect(context.turnState.duplicates).toBe(0);
});

test('a write that ran and failed may have changed something: the same read is legal again, and nothing else', async () => {
  const { codes } = await run([
    callsReply([call('1', 'run_tests'), call('2'), call('3', 'failing_write'), call('4')]),
    callsReply([call('5', 'run_tests'), call('6', 'failing_write'), call('7')]),
    textReply('done'),
  ]);
  expect(codes).toEqual([
    'ok',
    'ok',
    'TOOL_FAILED',
    'ok',
    'DUPLICATE_BLOCKED',
    'DUPLICATE_BLOCKED',
    'DUPLICATE_BLOCKED',
  ]);
});

test('a write that was refused has changed nothing', async () => {
  const { codes } = await run([
    callsReply([call('1'), call('2', 'refused_write'), call('3')]),
    textReply('done'),
  ]);
  expect(codes).toEqual(['ok', 'INVALID_TOOL_ARGUMENTS', 'DUPLICATE_BLOCKED']);
});

test('a read and a failing write in turns end at the limit of duplicates (R174)', async () => {
  const both = (id: string) => callsReply([call(`${id}r`), call(`${id}w`, 'failing_write')]);
  const { outcome, toolRegistry } = await run(
    [both('1'), both('2'), both('3'), textReply('done')],
    { maxDuplicateAttempts: 3 },
  );
  expect(outcome).toMatchObject({ kind: 'stopped', stopReason: 'duplicates' });
  expect(toolRegistry.ran).toEqual(['1r', '1w', '2r']);
});

test('a failure may run once more if it is retryable, and never otherwise (R175)', async () => {
  const calls = [
    call('1', 'busy'),
    call('2', 'busy'),
    call('3', 'busy'),
    call('4', 'broken'),
    call('5', 'broken'),
  ];
  const { toolRegistry, outcome } = await run([callsReply(calls), textReply('done')]);
  expect(toolRegistry.ran).toEqual(['1', '2', '4']);
  expect(JSON.parse(outcome.appended[3]?.content ?? '')).toMatchObject({
    earlier_result: { tool_call_id: '2', error: { code: 'TOOL_FAILED' } },
  });
});

test('a refused begin may be repeated; a committed one, noted by the driver, may not (R175)', async () => {
  const turnState = createTurnState();
  const refused = await run(
    [callsReply([call('1', BEGIN_TOOL_NAME), call('2', BEGIN_TOOL_NAME)]), textReply('done')],
    { turnState },
  );
  expect(refused.codes).toEqual(['TOOL_FAILED', 'TOOL_FAILED']);

  const read = call('r');
  const receipt = { success: true, result: { sha256: 'x' }, details: {}, attempts: 1 } as const;
  const note = (noted: typeof read) =>
    recordExecuted(turnState, createFakeToolRegistry(TOOLS), 'project', noted, {
      ...receipt,
      toolCallId: noted.id,
      toolName: noted.name,
    });
  note(read);
  note(call('2', BEGIN_TOOL_NAME));
  const after = await run(
    [callsReply([call('3', BEGIN_TOOL_NAME), call('4')]), textReply('done')],
    { turnState },
  );
  expect(after.codes).toEqual(['DUPLICATE_BLOCKED', 'ok']);
});

test('nothing is remembered from one turn to the next (R172)', async () => {
  const protocol = createStandardProtocol();
  for (let turn = 0; turn < 2; turn++) {
    const toolRegistry = createFakeToolRegistry(TOOLS);
    const adapter = createFakeAdapter([callsReply([call('1')]), textReply('done')]);
    await collect(protocol.executeStreaming(createProtocolContext({ adapter, toolRegistry })));
    expect(toolRegistry.ran).toEqual(['1']);
  }
});
