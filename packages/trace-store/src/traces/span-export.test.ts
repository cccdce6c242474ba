import type { TraceInput } from '@orion/contracts';
import { expect, test } from 'vitest';
import { prepareTrace } from '../safety/trace-event.ts';
import { createSpanExport } from './span-export.ts';
import type { OpenSpan, SpanAttributes, SpanSink } from './span-export.ts';

type Told = {
  readonly name: string;
  readonly parent: string | null;
  readonly from: number;
  to?: number;
  error?: string | null;
  attributes: SpanAttributes;
};

function createFakeSink(): SpanSink & { readonly spans: Told[] } {
  const spans: Told[] = [];
  const names = new Map<OpenSpan, string>();
  return {
    spans,
    start({ name, at, parent, attributes }) {
      const told: Told = {
        name,
        parent: parent && (names.get(parent) ?? null),
        from: at,
        attributes,
      };
      spans.push(told);
      const open: OpenSpan = {
        end(to, more, error) {
          Object.assign(told, { to, error, attributes: { ...told.attributes, ...more } });
        },
      };
      names.set(open, name);
      return open;
    },
  };
}

const play = (observe: ReturnType<typeof createSpanExport>, steps: readonly TraceInput[]): void => {
  for (const [index, step] of steps.entries()) {
    observe({
      id: index + 1,
      ...prepareTrace({ requestId: 'r', timestamp: index, ...step }, 0).event,
    });
  }
};

const TURN: readonly TraceInput[] = [
  { type: 'turn_started' },
  { type: 'llm_call', phaseIndex: 0, details: { provider: 'p', model: 'm', messages: 2 } },
  {
    type: 'llm_result',
    phaseIndex: 0,
    details: { finish: 'tool_calls', usage: { inputTokens: 7, outputTokens: 3 } },
  },
  {
    type: 'tool_call',
    toolName: 'read',
    details: { callId: 'c', treatment: 'run', arguments: 'private' },
  },
  {
    type: 'tool_result',
    toolName: 'read',
    error: { code: 'TOOL_FAILED' },
    details: { callId: 'c', success: false },
  },
  { type: 'tool_call', toolName: 'drop', details: { callId: 'd', treatment: 'refused' } },
  { type: 'llm_call', phaseIndex: 1, details: { provider: 'p', model: 'm' } },
  { type: 'turn_ended', details: { status: 'done' } },
];

test('a turn is spans with the names of the gen_ai conventions, and every one of them ends', () => {
  const sink = createFakeSink();
  play(createSpanExport(sink), TURN);
  const agent = 'invoke_agent orion';
  expect(sink.spans).toMatchObject([
    {
      name: agent,
      parent: null,
      from: 0,
      to: 7,
      error: null,
      attributes: { 'gen_ai.operation.name': 'invoke_agent' },
    },
    {
      name: 'chat m',
      parent: agent,
      from: 1,
      to: 2,
      error: null,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'p',
        'gen_ai.request.model': 'm',
        'gen_ai.usage.input_tokens': 7,
        'gen_ai.usage.output_tokens': 3,
        'gen_ai.response.finish_reasons': ['tool_calls'],
      },
    },
    { name: 'execute_tool read', parent: agent, from: 3, to: 4, error: 'TOOL_FAILED' },
    { name: 'chat m', parent: agent, from: 6, to: 7, error: 'unfinished' },
  ]);
  const again = createFakeSink();
  play(createSpanExport(again), [
    { type: 'turn_started' },
    { type: 'llm_call' },
    { type: 'llm_call' },
    { type: 'turn_started' },
  ]);
  expect(again.spans.map(({ to, error }) => [to, error])).toEqual([
    [3, 'unfinished'],
    [2, 'unfinished'],
    [3, 'unfinished'],
    [undefined, undefined],
  ]);
  expect(JSON.stringify(sink.spans)).not.toContain('private');
});

test('what an event does not say has a name too, and a result finds the call it belongs to', () => {
  const sink = createFakeSink();
  play(createSpanExport(sink), [
    { type: 'turn_started' },
    { type: 'llm_call' },
    { type: 'llm_result', cycleIndex: 0, phaseIndex: 0 },
    { type: 'llm_call', cycleIndex: 0, phaseIndex: 0, details: { model: 'm' } },
    { type: 'llm_call', cycleIndex: 1, phaseIndex: 0, details: { model: 'n' } },
    { type: 'llm_result', details: { finish: 'aborted', usage: { inputTokens: 'many' } } },
    { type: 'llm_result', cycleIndex: 1, details: { finish: 'error' } },
    { type: 'tool_call', details: { treatment: 'run' } },
    { type: 'tool_result', details: { success: false } },
    { type: 'tool_call', toolName: 'read', details: { treatment: 'run', callId: 'c' } },
    { type: 'tool_result', error: { code: 'LEFT_OUT' }, details: { callId: 'c', success: true } },
    { type: 'turn_ended' },
  ]);
  const chat = (model: string, provider: string, finish: string) => ({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': model,
    'gen_ai.response.finish_reasons': [finish],
  });
  const tool = (name: string, id: string) => ({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.call.id': id,
  });
  const parent = 'invoke_agent orion';
  expect(sink.spans).toEqual([
    {
      name: parent,
      parent: null,
      from: 0,
      to: 11,
      error: null,
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'orion',
        'orion.request.id': 'r',
      },
    },
    {
      name: 'chat unknown',
      parent,
      from: 1,
      to: 2,
      error: null,
      attributes: chat('unknown', 'unknown', 'unknown'),
    },
    {
      name: 'chat m',
      parent,
      from: 3,
      to: 5,
      error: 'aborted',
      attributes: chat('m', 'unknown', 'aborted'),
    },
    {
      name: 'chat n',
      parent,
      from: 4,
      to: 6,
      error: 'error',
      attributes: chat('n', 'unknown', 'error'),
    },
    {
      name: 'execute_tool unknown',
      parent,
      from: 7,
      to: 8,
      error: 'failed',
      attributes: tool('unknown', ''),
    },
    {
      name: 'execute_tool read',
      parent,
      from: 9,
      to: 10,
      error: null,
      attributes: tool('read', 'c'),
    },
  ]);
});

test.each([
  ['done', null],
  ['failed', 'failed'],
  ['error', 'error'],
])('a turn that ended %s is a span with the error %s', (status, error) => {
  const sink = createFakeSink();
  play(createSpanExport(sink), [
    { type: 'turn_started' },
    { type: 'turn_ended', details: { status } },
  ]);
  expect(sink.spans).toMatchObject([{ from: 0, to: 1, error }]);
});

test('of more than a thousand turns at once the oldest is ended as unfinished', () => {
  const sink = createFakeSink();
  const turns = Array.from({ length: 1_001 }, (_, turn) => ({
    type: 'turn_started',
    requestId: `r${turn}`,
  }));
  play(createSpanExport(sink), turns.slice(0, 1_000));
  expect(sink.spans.filter(({ error }) => error !== undefined)).toEqual([]);
  sink.spans.length = 0;
  play(createSpanExport(sink), turns);
  expect(sink.spans.filter(({ error }) => error !== undefined)).toMatchObject([
    { attributes: { 'orion.request.id': 'r0' }, error: 'unfinished', to: 1_000 },
  ]);
});

test('a model call leaves the process, a turn and a tool do not', () => {
  const kinds: string[] = [];
  const observe = createSpanExport({
    start({ kind }) {
      kinds.push(kind);
      return { end: () => undefined };
    },
  });
  play(observe, [
    { type: 'turn_started' },
    { type: 'llm_call' },
    { type: 'tool_call', details: { treatment: 'run' } },
  ]);
  expect(kinds).toEqual(['internal', 'client', 'internal']);
});

test('a sink that throws, and events of no turn, disturb nobody', () => {
  const observe = createSpanExport({
    start() {
      throw new Error('sink');
    },
  });
  play(observe, TURN);
  const sink = createFakeSink();
  play(createSpanExport(sink), [{ type: 'llm_call', details: {} }, { type: 'turn_ended' }]);
  expect(sink.spans).toEqual([]);
});
