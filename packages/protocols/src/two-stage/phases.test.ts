import type { LlmEvent } from '@orion/contracts';
import {
  callsReply,
  collect,
  createFakeAdapter,
  createFakeToolRegistry,
  createProtocolContext,
  readTool,
  textOf,
  textReply,
  toolCall,
} from '@orion/testkit';
import type { FakeReply, FakeTool } from '@orion/testkit';
import { expect, test } from 'vitest';
import type { ProtocolConfigInput } from '../base/config.ts';
import { createTwoStageProtocol } from './two-stage-protocol.ts';
import { runProtocol } from '../testing/run-protocol.ts';

const TOOLS: Readonly<Record<string, FakeTool>> = {
  read_file: readTool({ content: 'abc' }),
  list_files: readTool(['a']),
  write_file: { effect: 'write', run: () => ({ success: true, result: 'written' }) },
  throwing: {
    effect: 'read',
    run: () => {
      throw new Error('tool defect');
    },
  },
};

const run = (
  replies: readonly FakeReply[],
  more: { readonly config?: ProtocolConfigInput; readonly mode?: 'plan' | 'act' } = {},
) => runProtocol(createTwoStageProtocol(), replies, TOOLS, more);

const read = (id: string, path = id) => toolCall(id, 'read_file', { path });
const broken = (id: string) => toolCall(id, 'read_file', '{"pa', 'cut');

test('an action phase, the tool phase of its call, an action phase (R145, R154)', async () => {
  const { events, outcome, adapter, context, state } = await run([
    callsReply([read('1')], 'Look. '),
    textReply('Answer.', '\n'),
  ]);
  expect(events.map((event) => event.type)).toEqual([
    'phase',
    'chunk',
    'tool_calls',
    'phase',
    'tool_result',
    'phase',
    'chunk',
    'chunk',
    'outcome',
  ]);
  expect(events.filter((event) => event.type === 'phase')).toEqual([
    { type: 'phase', phase: 'action', index: 0 },
    { type: 'phase', phase: 'tool', index: 1 },
    { type: 'phase', phase: 'action', index: 2 },
  ]);
  // What was said before the call is forwarded and kept (R149).
  const called = { role: 'assistant', content: 'Look. ', toolCalls: [read('1')] };
  const answered = {
    role: 'tool',
    toolCallId: '1',
    toolName: 'read_file',
    content: '{"content":"abc"}',
  };
  expect(adapter.requests[1]?.messages).toEqual([...context.messages, called, answered]);
  expect(outcome).toEqual({
    kind: 'complete',
    appended: [called, answered, { role: 'assistant', content: 'Answer.\n' }],
  });
  expect(textOf(events)).toBe('Look. Answer.\n');
  expect(state).toMatchObject({ cycleIndex: 1, cyclesUsed: 1, nextPhaseIndex: 3 });
});

/** As an adapter reads on after a call: what came in the same read, then nothing until the request is closed. */
const readOn = (...rest: readonly LlmEvent[]): FakeReply =>
  async function* ({ options: { signal } }) {
    yield* callsReply([read('1')], 'Look. ').slice(0, -1);
    // The next call has begun, or the first one would not be over.
    yield { type: 'tool-call-start', index: 1, id: '2', name: 'read_file' };
    yield { type: 'tool-call-delta', index: 1, argumentsDelta: '{"pa' };
    yield* rest;
    if (signal?.aborted !== true) {
      await new Promise((resolve) => signal?.addEventListener('abort', resolve, { once: true }));
    }
    yield { type: 'error', error: { code: 'ABORTED', message: 'closed', retryable: false } };
  };

const usage = { inputTokens: 9, outputTokens: 5000, cachedTokens: 0, reasoningTokens: 0 };

test('reading stops at the first complete call, and the request is closed (R148)', async () => {
  const { adapter, outcome, events, toolRegistry, traceService } = await run([
    readOn({ type: 'text-delta', text: 'and more' }),
    textReply('done'),
  ]);
  expect(adapter.open()).toBe(0);
  expect(toolRegistry.ran).toEqual(['1']);
  expect(textOf(events)).toBe('Look. done');
  expect(outcome.kind).toBe('complete');
  // The call that had begun is traced as far as it came, and absent.
  expect(traceService.ofType('tool_call').map((event) => event.details)).toMatchObject([
    { callId: '2', treatment: 'ignored', state: 'cut', arguments: '{"pa' },
    { callId: '1', treatment: 'run' },
  ]);
  expect(JSON.stringify(outcome.appended)).not.toContain('"2"');
  expect(JSON.stringify(outcome.appended)).not.toContain('and more');
});

test('what the provider has counted by then is reported and spent (R169, R251)', async () => {
  for (const counted of [readOn({ type: 'usage', usage }), whole()]) {
    const { events, outcome, state, adapter } = await run([counted], {
      config: { budget: { maxTokens: 1000 } },
    });
    expect(events.filter((event) => event.type === 'usage')).toEqual([{ type: 'usage', usage }]);
    expect(state.spent.protocol.tokens).toBe(5000);
    expect(outcome).toMatchObject({ kind: 'stopped', stopReason: 'max_tokens' });
    expect(adapter.requests).toHaveLength(1);
  }

  /** A message that was over when it was read. */
  function whole(): FakeReply {
    const reply = callsReply([read('1'), read('2')]);
    return [...reply.slice(0, -1), { type: 'usage', usage }, ...reply.slice(-1)];
  }
});

test('without a count everything that was read is estimated (R169)', async () => {
  const { state } = await run([
    readOn({ type: 'tool-call-delta', index: 1, argumentsDelta: 'x'.repeat(4000) }),
    textReply('done'),
  ]);
  expect(state.spent.protocol.tokens).toBeGreaterThan(1000);
});

test('a count that follows more than the turn may still use is reported too', async () => {
  const { events } = await run(
    [
      readOn(
        { type: 'tool-call-delta', index: 1, argumentsDelta: 'x'.repeat(4000) },
        { type: 'usage', usage },
      ),
    ],
    { config: { budget: { maxTokens: 100 } } },
  );
  expect(events.filter((event) => event.type === 'usage')).toEqual([{ type: 'usage', usage }]);
});

test('an adapter that continues after its request was closed is abandoned', async () => {
  const { state, outcome } = await run([
    function* () {
      yield* callsReply([read('1')]).slice(0, -1);
      for (;;) yield { type: 'text-delta', text: 'and on '.repeat(100) };
    },
    textReply('done'),
  ]);
  expect(state.spent.protocol.tokens).toBeLessThan(200_000);
  expect(outcome).toMatchObject({ kind: 'stopped', stopReason: 'tokens' });
});

test('a broken call before a complete one is passed over, traced and absent (R148)', async () => {
  const { outcome, toolRegistry, traceService, codes } = await run([
    callsReply([broken('b'), read('1'), read('2')]),
    textReply('done'),
  ]);
  expect(toolRegistry.ran).toEqual(['1']);
  expect(codes).toEqual(['ok']);
  expect(JSON.stringify(outcome.appended)).not.toContain('"b"');
  expect(traceService.ofType('tool_call').map((event) => event.details)).toMatchObject([
    { callId: 'b', treatment: 'ignored' },
    { callId: '2', treatment: 'ignored' },
    { callId: '1', treatment: 'run' },
  ]);
});

test('maxToolsPerToolPhase is used (R159)', async () => {
  const two = await run([callsReply([read('1'), read('2'), read('3')]), textReply('done')], {
    config: { limits: { 'two-stage': { maxToolsPerToolPhase: 2 } } },
  });
  expect(two.toolRegistry.ran).toEqual(['1', '2']);
  expect(two.state).toMatchObject({ cyclesUsed: 1, cycleIndex: 2 });
  const none = await run([textReply('done')], {
    config: { limits: { 'two-stage': { maxToolsPerToolPhase: 0 } } },
  });
  expect(none.adapter.requests[0]?.options.tools).toBeUndefined();
});

test('3 cycles are 3 tools and 4 model calls, the last one without tools (R152)', async () => {
  const { adapter, toolRegistry, outcome, events, traceService } = await run([
    callsReply([read('1')]),
    callsReply([read('2')]),
    callsReply([read('3')]),
    callsReply([read('4')], 'So far: abc.'),
  ]);
  expect(toolRegistry.ran).toEqual(['1', '2', '3']);
  const last = adapter.requests[3];
  expect(last?.options.tools).toBeUndefined();
  expect(last?.messages.at(-1)).toEqual({
    role: 'system',
    content: 'Maximum tool execution cycles (3) reached. Answer now with existing results.',
  });
  expect(outcome).toMatchObject({ kind: 'stopped', stopReason: 'ceiling' });
  expect(textOf(events, 'notice')).toContain('Maximum tool execution cycles (3) reached.');
  expect(traceService.ofType('tool_call').at(-1)).toMatchObject({
    details: { callId: '4', treatment: 'ignored' },
  });
  expect(traceService.ofType('budget_exhausted')).toHaveLength(1);
});

test.for([undefined, 0])(
  'a limit that is %s is neither infinite nor the default (R159)',
  async (maxPhaseCycles) => {
    const replies = (maxPhaseCycles === 0 ? [] : ['1', '2', '3']).map((id) =>
      callsReply([read(id)]),
    );
    const { outcome } = await run([...replies, textReply('done')], {
      config: { limits: { 'two-stage': { maxPhaseCycles } } },
    });
    expect(outcome).toMatchObject({ kind: 'stopped', stopReason: 'ceiling' });
  },
);

test('incomplete calls use cycles: at most 3 and the last answer (R150)', async () => {
  const { adapter, events, outcome, toolRegistry, state } = await run([
    callsReply([broken('1')]),
    callsReply([broken('2')]),
    callsReply([toolCall('3', ' ', {})]),
    callsReply([broken('4')]),
  ]);
  expect(adapter.requests).toHaveLength(4);
  expect(toolRegistry.ran).toEqual([]);
  const told = 'Tool call incomplete or malformed. Continue reasoning.';
  expect(textOf(events, 'notice').split(told)).toHaveLength(4);
  expect(adapter.requests[1]?.messages.at(-1)).toEqual({ role: 'system', content: told });
  expect(state).toMatchObject({ cyclesUsed: 3, cycleIndex: 0 });
  expect(outcome).toMatchObject({ kind: 'incomplete', stopReason: 'ceiling' });
});

test('duplicates use no cycle; the third one ends with one answer without tools (R151, R173, R174)', async () => {
  const { adapter, toolRegistry, outcome, events, state } = await run([
    callsReply([read('1', 'a')], 'Look. '),
    callsReply([read('2', 'a')]),
    callsReply([read('3', 'a')]),
    callsReply([read('4', 'a')]),
    textReply('Answer.\n'),
  ]);
  expect(toolRegistry.ran).toEqual(['1']);
  expect(adapter.requests).toHaveLength(5);
  expect(adapter.requests[4]?.options.tools).toBeUndefined();
  expect(adapter.requests[4]?.messages.at(-1)).toEqual({
    role: 'system',
    content: 'Maximum duplicate attempts reached. Answer now with existing results.',
  });
  expect(state).toMatchObject({ duplicates: 3, cyclesUsed: 1, cycleIndex: 1 });
  expect(outcome).toMatchObject({ kind: 'stopped', stopReason: 'duplicates' });
  expect(textOf(events)).toBe('Look. Answer.\n');
});

test('an empty answer is reported and incomplete (R153)', async () => {
  const { events, outcome } = await run([textReply()]);
  expect(textOf(events)).toBe('');
  expect(textOf(events, 'notice')).toBe('No final answer was produced.');
  expect(outcome).toEqual({ kind: 'incomplete', appended: [] });
});

test('results are hidden unless asked for, and always sent to the model (R155)', async () => {
  const replies = [callsReply([read('1')]), textReply('done')];
  const hidden = await run(replies);
  expect(textOf(hidden.events, 'notice')).toBe('');
  expect(JSON.stringify(hidden.adapter.requests[1]?.messages)).toContain('abc');
  const shown = await run(replies, { config: { debugShowToolResults: true } });
  expect(textOf(shown.events, 'notice')).toContain('abc');
  expect(textOf(shown.events)).toBe('done');
});

test('PLAN blocks here too, by the exact name, and ends (R156, R177)', async () => {
  const write = (id: string) => toolCall(id, 'read_file_and_delete', { path: id });
  const { codes, toolRegistry, events, outcome } = await run(
    [callsReply([write('1')]), callsReply([write('2')]), callsReply([write('3')]), textReply('ok')],
    { mode: 'plan' },
  );
  expect(toolRegistry.ran).toEqual([]);
  expect(codes).toEqual(['TOOL_NOT_ALLOWED', 'TOOL_NOT_ALLOWED', 'TOOL_NOT_ALLOWED']);
  expect(textOf(events, 'notice')).toContain('read_file_and_delete');
  expect(textOf(events, 'notice')).toContain('ACT mode');
  expect(outcome).toMatchObject({ kind: 'stopped', stopReason: 'ceiling' });
});

test('a throwing tool is a failed result and a cycle (R158)', async () => {
  const { codes, outcome, state } = await run([
    callsReply([toolCall('1', 'throwing')]),
    textReply('It failed.'),
  ]);
  expect(codes).toEqual(['TOOL_FAILED']);
  expect(state.cyclesUsed).toBe(1);
  expect(outcome.kind).toBe('complete');
});

test('a message with an empty list of calls is an answer (R159)', async () => {
  const { outcome } = await run([[...textReply('Just text')]]);
  expect(outcome.kind).toBe('complete');
});

test('each phase is traced with its end (R157)', async () => {
  const { traceService } = await run([callsReply([read('1')]), textReply('done')]);
  const phases = ['phase_start', 'phase_end'].map((type) =>
    traceService.ofType(type).map((event) => [event.phaseIndex, event.details]),
  );
  expect(phases).toEqual([
    [
      [0, { phase: 'action' }],
      [1, { phase: 'tool' }],
      [2, { phase: 'action' }],
    ],
    [
      [0, { phase: 'action', reason: 'enough_calls' }],
      [1, { phase: 'tool', reason: 'complete' }],
      [2, { phase: 'action', reason: 'stop' }],
    ],
  ]);
  expect(traceService.ofType('tool_executed')).toHaveLength(1);
});

test('events are forwarded while they happen, not at the end of a phase (R146)', async () => {
  let heard = (): void => undefined;
  const listening = new Promise<void>((resolve) => {
    heard = resolve;
  });
  async function* waiting(): AsyncGenerator<LlmEvent> {
    yield { type: 'text-delta', text: 'Look. ' };
    // The model continues only when the consumer has read this.
    await listening;
    yield* textReply('Done.');
  }
  const context = createProtocolContext({ adapter: createFakeAdapter([() => waiting()]) });
  const seen: string[] = [];
  for await (const event of createTwoStageProtocol().executeStreaming(context)) {
    seen.push(event.type);
    if (event.type === 'chunk') heard();
  }
  expect(seen).toEqual(['phase', 'chunk', 'chunk', 'outcome']);
});

test('a complete call without arguments runs (R147)', async () => {
  const { toolRegistry, codes } = await run([
    callsReply([toolCall('1', 'list_files', '')]),
    callsReply([toolCall('2', 'list_files', '[]', 'malformed')]),
    textReply('done'),
  ]);
  expect(toolRegistry.ran).toEqual(['1']);
  expect(codes).toEqual(['ok', 'INVALID_TOOL_ARGUMENTS']);
});

test('of a result of any size the model reads a bounded part (R159)', async () => {
  const adapter = createFakeAdapter([callsReply([read('1')]), textReply('done')]);
  const context = createProtocolContext({
    adapter,
    toolRegistry: createFakeToolRegistry({ read_file: readTool('x'.repeat(3_000_000)) }),
  });
  await collect(createTwoStageProtocol().executeStreaming(context));
  const content = adapter.requests[1]?.messages.at(-1)?.content ?? '';
  expect(content.length).toBeLessThan(270_000);
  expect(JSON.parse(content)).toMatchObject({ result_length: 3_000_002 });
});
