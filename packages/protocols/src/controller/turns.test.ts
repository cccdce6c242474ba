import { BEGIN_TOOL_NAME } from '@orion/contracts';
import type { LlmEvent } from '@orion/contracts';
import {
  callsReply,
  collect,
  createFakeAdapter,
  createProtocolContext,
  textOf,
  textReply,
  toolCall,
} from '@orion/testkit';
import type { FakeReply, FakeTool } from '@orion/testkit';
import { describe, expect, test } from 'vitest';
import type { ProtocolConfigInput } from '../base/config.ts';
import { createContentProtocol } from '../content/content-protocol.ts';
import { createControllerProtocol } from './controller-protocol.ts';
import { CONTROLLER_FORMAT } from './schema.ts';
import { runProtocol } from '../testing/run-protocol.ts';

const say = (value: object): LlmEvent[] => textReply(JSON.stringify(value));
const step = (tool: string, args: unknown = {}, more: object = {}): LlmEvent[] =>
  say({ action: 'next_step', thinking: { task: 't' }, tool, args, ...more });
const done = say({ action: 'complete', message: 'Done.' });
const onlyThinking = say({ action: 'next_step', thinking: { task: 'x' } });

const TOOLS: Readonly<Record<string, FakeTool>> = {
  read_file: { effect: 'read', run: (args) => ({ success: true, result: { read: args } }) },
  strict: {
    effect: 'read',
    run: () => ({
      success: false,
      attempts: 0,
      error: { code: 'INVALID_TOOL_ARGUMENTS', message: 'path is missing', retryable: false },
    }),
  },
  [BEGIN_TOOL_NAME]: {
    effect: 'write',
    run: () => ({ success: true, result: { next: 'content' }, next: 'content' }),
  },
};

async function run(
  replies: readonly FakeReply[],
  config: ProtocolConfigInput = {},
  mode: 'plan' | 'act' = 'act',
) {
  const ran = await runProtocol(createControllerProtocol(), replies, TOOLS, { config, mode });
  const lastMessages = ran.adapter.requests.map(({ messages }) => messages.at(-1)?.content ?? '');
  return { ...ran, lastMessages };
}

test('it works only with adapters that can return JSON (R133)', () => {
  const protocol = createControllerProtocol();
  for (const structuredOutput of [true, false]) {
    const adapter = createFakeAdapter([], { structuredOutput });
    expect(protocol.canHandle(createProtocolContext({ adapter }))).toBe(structuredOutput);
  }
});

test('a step, its output, an answer; nothing of it is a native tool call', async () => {
  const { adapter, events, outcome, lastMessages, toolRegistry } = await run([
    step('read_file', '{"path":"a.txt"}'),
    done,
  ]);
  for (const { messages, options } of adapter.requests) {
    expect(options.tools).toBeUndefined();
    expect(options.responseFormat).toEqual(CONTROLLER_FORMAT);
    expect(messages.every((message) => message.role !== 'tool' && !('toolCalls' in message))).toBe(
      true,
    );
    expect(messages[1]?.content).toContain('AVAILABLE TOOLS\n- read_file');
  }
  expect(toolRegistry.ran).toEqual(['step_0']);
  expect(lastMessages[0]).toContain('LAST TOOL OUTPUT\nNone');
  expect(lastMessages[1]).toContain(
    'LAST TOOL OUTPUT\nread_file {"path":"a.txt"}\n{"read":{"path":"a.txt"}}',
  );
  // The person reads the answer, never the JSON (R138).
  expect(textOf(events)).toBe('Done.');
  expect(outcome).toEqual({
    kind: 'complete',
    appended: [
      {
        role: 'assistant',
        content: '',
        toolCalls: [toolCall('step_0', 'read_file', { path: 'a.txt' })],
      },
      {
        role: 'tool',
        toolCallId: 'step_0',
        toolName: 'read_file',
        content: '{"read":{"path":"a.txt"}}',
      },
      { role: 'assistant', content: 'Done.' },
    ],
  });
  expect(events.filter((event) => event.type === 'phase').map((event) => event.phase)).toEqual([
    'action',
    'tool',
    'action',
  ]);
});

test('earlier outputs stay, and the prefix of the requests is the same', async () => {
  const { adapter } = await run([
    step('read_file', { path: 'a' }),
    step('read_file', { path: 'b' }),
    done,
  ]);
  const [, , third] = adapter.requests;
  expect(third?.messages.at(-2)?.content).toContain('EARLIER TOOL OUTPUT\nread_file {"path":"a"}');
  expect(third?.messages.at(-1)?.content).toContain('LAST TOOL OUTPUT\nread_file {"path":"b"}');
  const heads = adapter.requests.map((request) => JSON.stringify(request.messages.slice(0, 3)));
  expect(new Set(heads).size).toBe(1);
});

test('LAST TOOL OUTPUT is None after a new message of the user, and answers are shown as JSON (R201)', async () => {
  const adapter = createFakeAdapter([done], { structuredOutput: true });
  const context = createProtocolContext({
    adapter,
    messages: [
      { role: 'user', content: 'first' },
      { role: 'assistant', content: '', toolCalls: [toolCall('1', 'read_file', { path: 'a' })] },
      { role: 'tool', toolCallId: '1', toolName: 'read_file', content: '"old"' },
      { role: 'assistant', content: 'It says old.' },
      { role: 'user', content: 'second' },
    ],
  });
  await collect(createControllerProtocol().executeStreaming(context));
  const sent = adapter.requests[0]?.messages.map((message) => [message.role, message.content]);
  expect(sent?.slice(1)).toEqual([
    ['user', 'first'],
    ['user', 'EARLIER TOOL OUTPUT\nread_file {"path":"a"}\n"old"'],
    ['assistant', '{"action":"complete","message":"It says old."}'],
    ['user', 'second'],
    ['user', 'LAST TOOL OUTPUT\nNone\n\nAnswer with one JSON object.'],
  ]);
});

describe('ends without another model call (R198)', () => {
  test.for<[object, string, object]>([
    [
      { action: 'next_step', thinking: {}, type: 'respond', message: 'Hi.' },
      'Hi.',
      { kind: 'complete' },
    ],
    [
      {
        action: 'ask_user',
        question: 'Which?',
        context: 'There are two.',
        resume_to: 'controller',
      },
      'There are two.\n\nWhich?',
      { kind: 'ask_user', resume_to: 'controller' },
    ],
    [
      { action: 'next_step', thinking: {}, question: 'Which?' },
      'Which?',
      { kind: 'ask_user', resume_to: 'reflecting' },
    ],
    [{ action: 'guardrail_stop', reason: 'No.' }, 'No.', { kind: 'guardrail_stop', reason: 'No.' }],
  ])('%j', async ([value, said, traced]) => {
    const { events, outcome, traceService } = await run([say(value)]);
    expect(textOf(events)).toBe(said);
    expect(outcome.kind).toBe('complete');
    expect(traceService.ofType('controller_action')).toMatchObject([{ details: traced }]);
  });
});

describe('output that is none (R199)', () => {
  test('is asked for again with what is wrong, and leaves nothing in the history', async () => {
    const { adapter, outcome, events } = await run([textReply('Sure!'), done]);
    const [invalid, why] = adapter.requests[1]?.messages.slice(-2) ?? [];
    expect(invalid).toEqual({ role: 'assistant', content: 'Sure!' });
    expect(why?.role).toBe('system');
    expect(why?.content).toContain('Invalid controller output: not one JSON object');
    expect(outcome.appended).toEqual([{ role: 'assistant', content: 'Done.' }]);
    expect(textOf(events)).toBe('Done.');
    expect(textOf(events, 'notice')).toContain('asked again');
  });

  test('A9: thinking alone is no step, and the same twice ends at once', async () => {
    const { toolRegistry, outcome, adapter } = await run([onlyThinking, onlyThinking]);
    expect(adapter.requests).toHaveLength(2);
    expect(toolRegistry.ran).toEqual([]);
    expect(outcome).toMatchObject({
      kind: 'error',
      error: {
        code: 'CONTROLLER_INVALID_OUTPUT',
        message: expect.stringContaining('Cannot determine step type'),
      },
    });
  });

  test('two corrections are the default, 0 are none, and a usable output sets the count back', async () => {
    const wrong = (text: string) => textReply(text);
    const three = await run([wrong('a'), wrong('b'), wrong('c')]);
    expect(three.outcome).toMatchObject({ error: { code: 'CONTROLLER_INVALID_OUTPUT' } });
    const none = await run([wrong('a')], { limits: { controller: { maxInvalidOutputs: 0 } } });
    expect(none.outcome).toMatchObject({ error: { code: 'CONTROLLER_INVALID_OUTPUT' } });
    const between = await run([
      wrong('a'),
      wrong('b'),
      step('read_file', { path: 'a' }),
      wrong('a'),
      wrong('b'),
      done,
    ]);
    expect(between.outcome.kind).toBe('complete');
  });

  test('an answer that was cut says so', async () => {
    const { adapter } = await run([
      [
        { type: 'text-delta', text: '{"action":"complete","mess' },
        { type: 'finish', reason: 'length' },
      ],
      done,
    ]);
    expect(adapter.requests[1]?.messages.at(-1)?.content).toContain('cut at the output limit');
  });

  test('a pause without a word is none that could be corrected', async () => {
    const pause: FakeReply = [{ type: 'finish', reason: 'pause' }];
    const { outcome, events } = await run([pause, pause, pause, pause, done]);
    expect(outcome.kind).toBe('complete');
    expect(textOf(events, 'notice')).toBe('');
  });

  test('a native call is ignored and traced', async () => {
    const { toolRegistry, traceService } = await run([
      callsReply([toolCall('1', 'read_file', { path: 'a' })]),
      done,
    ]);
    expect(toolRegistry.ran).toEqual([]);
    expect(traceService.ofType('tool_call')).toMatchObject([{ details: { treatment: 'ignored' } }]);
  });
});

describe('limits (R200, R169–R175)', () => {
  const finalRequest = (
    requests: readonly { readonly messages: readonly { content: string }[] }[],
  ) => requests.at(-1)?.messages.at(-1)?.content;

  test('a repeated call is refused, and the third time answered', async () => {
    const same = step('read_file', { path: 'a' });
    const { adapter, outcome, toolRegistry, events } = await run([same, same, same, same, done]);
    expect(toolRegistry.ran).toHaveLength(1);
    expect(finalRequest(adapter.requests)).toContain(
      'Maximum duplicate attempts reached. Answer now with existing results.',
    );
    expect(outcome).toMatchObject({ kind: 'stopped', stopReason: 'duplicates' });
    expect(textOf(events)).toBe('Done.');
  });

  test('20 turns, then the last answer', async () => {
    const steps = Array.from({ length: 20 }, (_, index) =>
      step('read_file', { path: `${index}` }, { description: `step ${index}` }),
    );
    const { adapter, outcome } = await run([...steps, done]);
    expect(adapter.requests).toHaveLength(21);
    expect(finalRequest(adapter.requests)).toContain('Maximum controller turns (20) reached.');
    expect(outcome).toMatchObject({ kind: 'stopped', stopReason: 'ceiling' });
  });

  test('5 calls for one step', async () => {
    const steps = Array.from({ length: 6 }, (_, index) => step('read_file', { path: `${index}` }));
    const { toolRegistry, adapter, outcome } = await run([...steps, done]);
    expect(toolRegistry.ran).toHaveLength(5);
    expect(finalRequest(adapter.requests)).toContain(
      'Maximum tool calls for one step (5) reached.',
    );
    expect(outcome).toMatchObject({ stopReason: 'ceiling' });
  });

  test.for(['nobody', 'strict'])('%s: the same failure twice', async (tool) => {
    const { lastMessages, outcome, adapter } = await run([step(tool), step(tool), done]);
    expect(lastMessages[1]).toContain(tool === 'nobody' ? 'UNKNOWN_TOOL' : 'path is missing');
    expect(finalRequest(adapter.requests)).toContain('failed twice');
    expect(outcome).toMatchObject({ kind: 'stopped', stopReason: 'progress' });
  });

  test('PLAN holds here too (R177)', async () => {
    const { toolRegistry, outcome } = await run([step(BEGIN_TOOL_NAME), done], {}, 'plan');
    expect(toolRegistry.ran).toEqual([]);
    expect(outcome.appended[1]?.content).toContain('TOOL_NOT_ALLOWED');
  });

  test.for<[FakeReply, string, string]>([
    [say({ action: 'ask_user', question: 'Which?' }), 'Which?', 'stopped'],
    [textReply('It says a.'), 'It says a.', 'stopped'],
    [step('read_file', { path: 'z' }), '', 'incomplete'],
    [textReply('{"action":"compl'), '', 'incomplete'],
    [textReply(), '', 'incomplete'],
  ])('the last answer may be %j', async ([reply, said, kind]) => {
    const { events, outcome, toolRegistry } = await run([reply], {
      limits: { controller: { maxControllerTurns: 0 } },
    });
    expect(toolRegistry.ran).toEqual([]);
    expect(textOf(events)).toBe(said);
    expect(outcome).toMatchObject({ kind, stopReason: 'ceiling' });
  });
});

test('a begin hands over, and its content stage reads and writes plain text', async () => {
  const { outcome, context } = await run([step(BEGIN_TOOL_NAME, { target_file: 'a' })]);
  expect(outcome).toMatchObject({ kind: 'handover', call: { name: BEGIN_TOOL_NAME } });
  const adapter = createFakeAdapter([textReply('a line\n', 'DONE')], { structuredOutput: true });
  const events = await collect(
    createContentProtocol(createControllerProtocol()).executeStreaming({
      ...context,
      adapter,
      messages: [
        ...context.messages,
        ...outcome.appended,
        { role: 'assistant', content: '{"not": "an action"}\n' },
        { role: 'user', content: 'Go on.' },
      ],
    }),
  );
  expect(textOf(events)).toBe('a line\nDONE');
  const { messages, options } = adapter.requests[0] ?? { messages: [], options: {} };
  expect(options.tools).toBeUndefined();
  expect(options.responseFormat).toEqual({ type: 'text' });
  expect(messages.map((message) => message.role)).toEqual([
    'system',
    'system',
    'user',
    'user',
    'assistant',
    'user',
  ]);
  expect(messages[3]?.content).toMatch(
    /LAST TOOL OUTPUT\nWritePlanTool_begin.*plain text, no JSON/s,
  );
  // What was written so far is text, not an action.
  expect(messages[4]?.content).toBe('{"not": "an action"}\n');
});

test('an error of the provider and a throwing tool end as they do elsewhere', async () => {
  const failed = await run([
    [{ type: 'error', error: { code: 'STREAM_BROKEN', message: 'broke', retryable: true } }],
  ]);
  expect(failed.outcome).toMatchObject({ kind: 'error', error: { code: 'STREAM_BROKEN' } });
  const finalFailed = await run(
    [[{ type: 'error', error: { code: 'STREAM_BROKEN', message: 'broke', retryable: true } }]],
    { limits: { controller: { maxControllerTurns: 0 } } },
  );
  expect(finalFailed.outcome).toMatchObject({ kind: 'error' });
});
