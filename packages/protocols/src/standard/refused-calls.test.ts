import { ERROR_CODES } from '@orion/contracts';
import type { ToolCall } from '@orion/contracts';
import { callsReply, readTool, textOf, textReply, toolCall } from '@orion/testkit';
import type { FakeReply, FakeTool } from '@orion/testkit';
import { expect, test } from 'vitest';
import { createStandardProtocol } from './standard-protocol.ts';
import { runProtocol } from '../testing/run-protocol.ts';

const TOOLS: Readonly<Record<string, FakeTool>> = {
  read_file: readTool('abc'),
  write_file: { effect: 'write', run: () => ({ success: true, result: 'written' }) },
};

const run = (replies: readonly FakeReply[], mode: 'plan' | 'act' = 'act') =>
  runProtocol(createStandardProtocol(), replies, TOOLS, { mode });

const cut: ToolCall = toolCall('c', 'read_file', '{"path":"a', 'cut');

test('a cut, malformed or nameless call is answered and never run (R131, R164)', async () => {
  const { toolRegistry, results, codes, outcome, state } = await run([
    callsReply([
      cut,
      toolCall('m', 'read_file', 'path=a', 'malformed'),
      toolCall('n', '', { path: 'a' }),
      toolCall('ok', 'read_file', { path: 'a' }),
    ]),
    textReply('done'),
  ]);
  expect(toolRegistry.ran).toEqual(['ok']);
  expect(codes).toEqual([
    'INVALID_TOOL_ARGUMENTS',
    'INVALID_TOOL_ARGUMENTS',
    'INVALID_TOOL_ARGUMENTS',
    'ok',
  ]);
  expect(results.map((result) => result.attempts)).toEqual([0, 0, 0, 1]);
  expect(results[0]).toMatchObject({
    error: {
      message: 'The arguments were cut off after 10 characters; the tool was not run.',
      hint: ERROR_CODES.INVALID_TOOL_ARGUMENTS,
    },
    details: { length: 10, position: 10, state: 'cut' },
  });
  expect(results[1]).toMatchObject({
    error: {
      message:
        'The arguments (6 characters) are not a JSON object: they go wrong at position 0; the tool was not run.',
    },
    details: { length: 6, position: 0, state: 'malformed' },
  });
  expect(outcome.appended[1]).toMatchObject({
    toolCallId: 'c',
    content: expect.stringContaining('"code":"INVALID_TOOL_ARGUMENTS"'),
  });
  expect(state.cycleIndex).toBe(1);
});

test('the history names what arrived instead of repeating a broken argument', async () => {
  const long = toolCall('c', 'write_file', `{"content":"${'x'.repeat(100_000)}`, 'cut');
  const { adapter } = await run([callsReply([long]), textReply('done')]);
  const assistant = adapter.requests[1]?.messages.at(-2);
  if (assistant?.role !== 'assistant') throw new Error('an assistant message is expected');
  const [call] = assistant.toolCalls ?? [];
  const shown = JSON.parse(call?.arguments ?? '') as Record<string, unknown>;
  expect(shown['length']).toBe(long.arguments.length);
  expect(String(shown['arguments_not_used'])).toHaveLength(1024);
});

test('the model reads where its arguments stop being JSON, and the text before it (R131)', async () => {
  const text = `{"content": "${'x'.repeat(50)}\\n const a = "b";"}`;
  const { outcome } = await run([
    callsReply([toolCall('m', 'write_file', text, 'malformed')]),
    textReply('done'),
  ]);
  const at = text.indexOf('b";');
  const before = JSON.stringify(text.slice(at - 40, at));
  const said = JSON.parse(outcome.appended[1]?.content ?? '') as { error: { message: string } };
  expect(said.error.message).toBe(
    `The arguments (${text.length} characters) are not a JSON object: they go wrong at position ${at}, right after ${before}; the tool was not run.`,
  );
});

const malformed = (id: string, text: string): ToolCall =>
  toolCall(id, 'write_file', text, 'malformed');

test('another mistake in the arguments is worth another correction (R164)', async () => {
  const { outcome, codes, state } = await run([
    callsReply([malformed('1', '{"content": "a "b""}')]),
    callsReply([malformed('2', '{"content": a}')]),
    callsReply([toolCall('3', 'write_file', '{"content":"a', 'cut')]),
    callsReply([toolCall('4', 'write_file', { content: 'a' })]),
    textReply('done'),
  ]);
  expect(codes).toEqual([
    'INVALID_TOOL_ARGUMENTS',
    'INVALID_TOOL_ARGUMENTS',
    'INVALID_TOOL_ARGUMENTS',
    'ok',
  ]);
  expect(outcome.kind).toBe('complete');
  expect(state).toMatchObject({ refusedInARow: 0, lastMistake: null });
});

test('the same mistake ends tool use, in a longer call and with a kept text of its own too (R164)', async () => {
  const kept = (name: string) => [
    { name: 'arguments', raw: true as const, path: name, lines: 1, bytes: 9 },
  ];
  const { outcome, adapter, state } = await run([
    callsReply([malformed('1', '{"content": "a "b""}')]),
    callsReply([malformed('2', '{"content": x}'), malformed('3', '{"content": y}')]),
    callsReply([
      { ...malformed('4', '{"content": x, "path": "a"}'), kept: kept('a.txt') },
      { ...malformed('5', '{"content": y, "path": "a"}'), kept: kept('b.txt') },
    ]),
    textReply('I cannot.'),
  ]);
  expect(outcome).toMatchObject({ kind: 'stopped', stopReason: 'invalid_output' });
  expect(adapter.requests).toHaveLength(4);
  expect(state).toMatchObject({ iterations: 3, refusedInARow: 2 });
});

test('a message without a call that can run is worth one correction, not two (R164)', async () => {
  const { outcome, adapter, state } = await run([
    callsReply([cut]),
    callsReply([{ ...cut, id: 'd' }]),
    textReply('I cannot read it.'),
  ]);
  expect(outcome).toMatchObject({ kind: 'stopped', stopReason: 'invalid_output' });
  expect(adapter.requests[2]?.options.tools).toBeUndefined();
  expect(state.iterations).toBe(2);
});

test('a correction that works sets the count back', async () => {
  const good = toolCall('g', 'read_file', { path: 'a' });
  const { outcome } = await run([
    callsReply([cut]),
    callsReply([good]),
    callsReply([{ ...cut, id: 'e' }]),
    textReply('done'),
  ]);
  expect(outcome.kind).toBe('complete');
});

test('a call of an unknown tool counts as one that cannot run', async () => {
  const { outcome, codes } = await run([
    callsReply([toolCall('1', 'nobody')]),
    callsReply([toolCall('2', 'no body?')]),
    textReply('sorry'),
  ]);
  expect(codes).toEqual(['UNKNOWN_TOOL', 'UNKNOWN_TOOL']);
  expect(outcome).toMatchObject({ kind: 'stopped', stopReason: 'invalid_output' });
});

test('plan mode runs no write: one notice, one refusal per call (R178)', async () => {
  const { toolRegistry, codes, events, outcome } = await run(
    [
      callsReply([
        toolCall('1', 'write_file', { path: 'a' }),
        toolCall('2', 'read_file', { path: 'a' }),
        toolCall('3', 'write_file', { path: 'b' }),
        toolCall('4', 'read_file_and_delete', { path: 'b' }),
      ]),
      textReply('done'),
    ],
    'plan',
  );
  expect(toolRegistry.ran).toEqual(['2']);
  expect(codes).toEqual(['TOOL_NOT_ALLOWED', 'ok', 'TOOL_NOT_ALLOWED', 'TOOL_NOT_ALLOWED']);
  const notices = events.filter((event) => event.type === 'chunk' && event.source === 'notice');
  expect(notices).toHaveLength(1);
  expect(textOf(events, 'notice')).toContain('write_file, read_file_and_delete');
  expect(textOf(events, 'notice')).toContain('ACT mode');
  expect(outcome.kind).toBe('complete');
});

test('a message of which nothing runs has no tool phase (R154)', async () => {
  const { events } = await run([callsReply([cut]), textReply('done')]);
  const phases = events.flatMap((event) => (event.type === 'phase' ? [event.phase] : []));
  expect(phases).toEqual(['action', 'action']);
});

test('calls without an id, or with the id of another call, get distinct ids', async () => {
  const { outcome } = await run([
    callsReply([
      toolCall('', 'read_file', { path: 'a' }),
      toolCall('x', 'read_file', { path: 'b' }),
      toolCall('x', 'read_file', { path: 'c' }),
      toolCall('x_2', 'read_file', { path: 'd' }),
    ]),
    textReply('done'),
  ]);
  const ids = outcome.appended.flatMap((message) =>
    message.role === 'tool' ? [message.toolCallId] : [],
  );
  expect(ids).toEqual(['call_0_0', 'x', 'x_2', 'x_2_2']);
});

test('a server that counts its calls from 0 in every message mixes up no answers', async () => {
  const { outcome } = await run([
    callsReply([toolCall('call_0', 'read_file', { path: 'a' })]),
    callsReply([toolCall('call_0', 'read_file', { path: 'b' })]),
    textReply('done'),
  ]);
  const ids = outcome.appended.flatMap((message) =>
    message.role === 'tool' ? [message.toolCallId] : [],
  );
  expect(ids).toEqual(['call_0', 'call_0_2']);
});

test('a name that a provider would refuse is made harmless in the history', async () => {
  const { outcome } = await run([
    callsReply([toolCall('1', 'read file("a")'), toolCall('2', 'x'.repeat(500))]),
    textReply('done'),
  ]);
  const [assistant] = outcome.appended;
  expect(assistant).toMatchObject({
    toolCalls: [{ name: 'read_file__a__' }, { name: 'x'.repeat(128) }],
  });
});
