import type { LlmEvent } from '@orion/contracts';
import {
  callsReply,
  collect,
  createFakeAdapter,
  createFakeToolRegistry,
  createFakeTrace,
  createProtocolContext,
  expectValidHistory,
  outcomeOf,
  readTool,
  textReply,
  toolCall,
} from '@orion/testkit';
import { expect, test } from 'vitest';
import { createStandardProtocol } from './standard-protocol.ts';

const read = toolCall('1', 'read_file', { path: 'a' });
const broken: LlmEvent = {
  type: 'error',
  error: { code: 'STREAM_BROKEN', message: 'broken', retryable: true },
};

test('an error keeps the text that came and drops the calls of its message', async () => {
  const reply = [...callsReply([read], 'Let me').slice(0, -1), broken];
  const traceService = createFakeTrace();
  const toolRegistry = createFakeToolRegistry({ read_file: readTool(1) });
  const context = createProtocolContext({
    adapter: createFakeAdapter([reply]),
    toolRegistry,
    traceService,
  });
  const outcome = outcomeOf(await collect(createStandardProtocol().executeStreaming(context)));
  expect(outcome).toEqual({
    kind: 'error',
    error: { code: 'STREAM_BROKEN', message: 'broken', retryable: true },
    appended: [{ role: 'assistant', content: 'Let me' }],
  });
  expect(toolRegistry.ran).toEqual([]);
  expect(traceService.ofType('error_occurred')).toMatchObject([
    { error: { code: 'STREAM_BROKEN' }, phaseIndex: 0 },
  ]);
});

test('an error before any text appends nothing', async () => {
  const context = createProtocolContext({ adapter: createFakeAdapter([[broken]]) });
  const outcome = outcomeOf(await collect(createStandardProtocol().executeStreaming(context)));
  expect(outcome.appended).toEqual([]);
});

test('a source without an end is an error, however much came (R163)', async () => {
  for (const reply of [[], [{ type: 'text-delta', text: 'a' }], callsReply([read]).slice(0, -1)]) {
    const context = createProtocolContext({
      adapter: createFakeAdapter([reply as readonly LlmEvent[]]),
    });
    const outcome = outcomeOf(await collect(createStandardProtocol().executeStreaming(context)));
    expect(outcome).toMatchObject({ kind: 'error', error: { code: 'STREAM_TRUNCATED' } });
  }
});

test('an error in a later message keeps what was done before', async () => {
  const adapter = createFakeAdapter([callsReply([read]), [broken]]);
  const toolRegistry = createFakeToolRegistry({ read_file: readTool(1) });
  const context = createProtocolContext({ adapter, toolRegistry });
  const outcome = outcomeOf(await collect(createStandardProtocol().executeStreaming(context)));
  expect(outcome.kind).toBe('error');
  expect(outcome.appended).toHaveLength(2);
});

test('an error in the last answer is an error, not a stop', async () => {
  const adapter = createFakeAdapter([[broken]]);
  const base = createProtocolContext({ adapter });
  const context = {
    ...base,
    config: { ...base.config, limits: { standard: { maxIterations: 0 } } },
  };
  const outcome = outcomeOf(await collect(createStandardProtocol().executeStreaming(context)));
  expect(outcome.kind).toBe('error');
});

test('an abort while tools run answers the remaining calls, and calls no model afterwards', async () => {
  const controller = new AbortController();
  const toolRegistry = createFakeToolRegistry({
    read_file: {
      effect: 'read',
      run: () => {
        controller.abort();
        return { success: true, result: 'abc' };
      },
    },
  });
  const adapter = createFakeAdapter([
    callsReply([read, toolCall('2', 'read_file', { path: 'b' })]),
  ]);
  const context = createProtocolContext({ adapter, toolRegistry, signal: controller.signal });
  const outcome = outcomeOf(await collect(createStandardProtocol().executeStreaming(context)));
  expect(outcome.kind).toBe('aborted');
  expect(toolRegistry.ran).toEqual(['1']);
  expectValidHistory([...context.messages, ...outcome.appended]);
  expect(outcome.appended.at(-1)).toMatchObject({
    toolCallId: '2',
    content: expect.stringContaining('ABORTED'),
  });
});

test('a message that ended in order just before an abort keeps its text and loses its calls', async () => {
  const controller = new AbortController();
  const toolRegistry = createFakeToolRegistry({ read_file: readTool(1) });
  const adapter = createFakeAdapter([
    function* () {
      const events = callsReply([read], 'Let me');
      yield* events.slice(0, -1);
      controller.abort();
      yield* events.slice(-1);
    },
  ]);
  const context = createProtocolContext({ adapter, toolRegistry, signal: controller.signal });
  const outcome = outcomeOf(await collect(createStandardProtocol().executeStreaming(context)));
  expect(outcome).toEqual({
    kind: 'aborted',
    appended: [{ role: 'assistant', content: 'Let me' }],
  });
  expect(toolRegistry.ran).toEqual([]);
});

test('a consumer that leaves while a tool runs aborts that tool (R139)', async () => {
  let toolSignal: AbortSignal | undefined;
  const toolRegistry = createFakeToolRegistry({
    read_file: {
      effect: 'read',
      run: (_args, { signal }) =>
        new Promise((resolve) => {
          toolSignal = signal;
          signal.addEventListener('abort', () => resolve({ success: true, result: 'late' }));
        }),
    },
  });
  const adapter = createFakeAdapter([callsReply([read]), textReply('never')]);
  const iterator = createStandardProtocol()
    .executeStreaming(createProtocolContext({ adapter, toolRegistry }))
    [Symbol.asyncIterator]();
  for (;;) {
    const { value } = await iterator.next();
    if (value?.type === 'phase' && value.phase === 'tool') break;
  }
  const waiting = iterator.next();
  await iterator.return?.();
  await waiting;
  expect(toolSignal?.aborted).toBe(true);
  expect(adapter.requests).toHaveLength(1);
});

test('leaves no listener on the signal of the turn', async () => {
  const controller = new AbortController();
  let listeners = 0;
  const { signal } = controller;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners += 1;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners -= 1;
    remove(...args);
  };
  for (let run = 0; run < 3; run++) {
    const context = createProtocolContext({ adapter: createFakeAdapter([textReply('a')]), signal });
    await collect(createStandardProtocol().executeStreaming(context));
    const left = createProtocolContext({ adapter: createFakeAdapter([textReply('a')]), signal });
    for await (const event of createStandardProtocol().executeStreaming(left)) {
      if (event.type === 'chunk') break;
    }
  }
  expect(listeners).toBe(0);
});

test('an answer finds its call by id, whatever id the registry gives it', async () => {
  const inner = createFakeToolRegistry({ read_file: readTool(1) });
  const toolRegistry = {
    ...inner,
    executeToolCalls: async (...args: Parameters<typeof inner.executeToolCalls>) =>
      (await inner.executeToolCalls(...args)).map((result) => ({ ...result, toolCallId: 'other' })),
  };
  const adapter = createFakeAdapter([callsReply([read]), textReply('done')]);
  const context = createProtocolContext({ adapter, toolRegistry });
  const { appended } = outcomeOf(await collect(createStandardProtocol().executeStreaming(context)));
  expectValidHistory([...context.messages, ...appended]);
});
