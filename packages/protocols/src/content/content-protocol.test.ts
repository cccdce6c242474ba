import type { LlmEvent, ProtocolEvent } from '@orion/contracts';
import {
  callsReply,
  collect,
  createFakeAdapter,
  createFakeClock,
  createFakeToolRegistry,
  createFakeTrace,
  createProtocolContext,
  outcomeOf,
  readTool,
  textOf,
  textReply,
  toolCall,
} from '@orion/testkit';
import type { FakeClock, FakeReply } from '@orion/testkit';
import { expect, test } from 'vitest';
import { resolveProtocolConfig } from '../base/config.ts';
import { createContentProtocol } from './content-protocol.ts';

const toolRegistry = createFakeToolRegistry({
  read_file: readTool(1),
  WritePlanTool_begin: { effect: 'write', run: () => ({}) },
});

const ABORTED = { code: 'ABORTED', message: 'cancelled', retryable: false } as const;

const usageOf = (outputTokens: number) => ({
  inputTokens: 1,
  outputTokens,
  cachedTokens: 0,
  reasoningTokens: 0,
});

test('asks for plain text with the same tools and tool_choice none (R160)', async () => {
  const adapter = createFakeAdapter([textReply('line\n', 'DONE\n')]);
  const context = createProtocolContext({ adapter, toolRegistry });
  const events = await collect(createContentProtocol().executeStreaming(context));
  expect(events).toEqual([
    { type: 'chunk', content: 'line\n', source: 'model' },
    { type: 'chunk', content: 'DONE\n', source: 'model' },
    {
      type: 'outcome',
      outcome: { kind: 'message_end', finish: 'stop', calls: [], appended: [] },
    },
  ]);
  const options = adapter.requests[0]?.options;
  expect(options).toMatchObject({ tool_choice: 'none', responseFormat: { type: 'text' } });
  expect(options?.tools?.map((tool) => tool.name)).toEqual(['read_file', 'WritePlanTool_begin']);
});

test('wants every word of the text, think tags included (R275)', async () => {
  const adapter = {
    ...createFakeAdapter([textReply('<think>a</think>\n')]),
    writesThinkTags: true,
  };
  const context = createProtocolContext({ adapter });
  const events = await collect(createContentProtocol().executeStreaming(context));
  expect(adapter.requests[0]?.options.verbatim).toBe(true);
  expect(events[0]).toEqual({ type: 'chunk', content: '<think>a</think>\n', source: 'model' });
});

test('says once that reasoning has a field of its own, and never what it is (R275)', async () => {
  const reply: LlmEvent[] = [
    { type: 'reasoning-delta', text: '' },
    { type: 'text-delta', text: '<think>' },
    { type: 'reasoning-delta', text: 'why' },
    { type: 'reasoning-delta', text: ' not' },
    { type: 'text-delta', text: 'a' },
    { type: 'finish', reason: 'stop' },
  ];
  const context = createProtocolContext({ adapter: createFakeAdapter([reply]) });
  const events = await collect(createContentProtocol().executeStreaming(context));
  expect(events.slice(0, -1)).toEqual([
    { type: 'chunk', content: '<think>', source: 'model' },
    { type: 'reasoning' },
    { type: 'chunk', content: 'a', source: 'model' },
  ]);
});

test('costs no iteration, no phase and no cycle', async () => {
  const context = createProtocolContext({
    adapter: createFakeAdapter([textReply('a')]),
    toolRegistry,
  });
  await collect(createContentProtocol().executeStreaming(context));
  expect(context.turnState).toMatchObject({
    iterations: 0,
    cyclesUsed: 0,
    nextPhaseIndex: 0,
    cycleIndex: 0,
    executed: {},
    duplicates: 0,
  });
});

test('hands over calls without running them, whatever the finish', async () => {
  const call = toolCall('1', 'read_file', { path: 'a' });
  const events = callsReply([call], 'text').slice(0, -1);
  const adapter = createFakeAdapter([[...events, { type: 'finish', reason: 'length' }]]);
  const traceService = createFakeTrace();
  const context = createProtocolContext({ adapter, toolRegistry, traceService });
  const outcome = outcomeOf(await collect(createContentProtocol().executeStreaming(context)));
  expect(outcome).toEqual({ kind: 'message_end', finish: 'length', calls: [call], appended: [] });
  expect(toolRegistry.ran).toEqual([]);
  expect(traceService.events.map((event) => event.type)).toEqual([
    'llm_call',
    'llm_result',
    'tool_call',
  ]);
});

test('an error and a missing end are errors; the text before them went through', async () => {
  const text: LlmEvent = { type: 'text-delta', text: 'half' };
  const error = { code: 'STREAM_STALLED', message: 'silent', retryable: true } as const;
  for (const [reply, code] of [
    [[text, { type: 'error', error }], 'STREAM_STALLED'],
    [[text], 'STREAM_TRUNCATED'],
  ] as const) {
    const context = createProtocolContext({ adapter: createFakeAdapter([reply]) });
    const events = await collect(createContentProtocol().executeStreaming(context));
    expect(textOf(events)).toBe('half');
    expect(outcomeOf(events)).toMatchObject({ kind: 'error', error: { code }, appended: [] });
  }
});

test('skips any number of events that are not passed on', async () => {
  const adapter = createFakeAdapter([
    function* () {
      for (let index = 0; index < 200_000; index++) yield { type: 'reasoning-delta', text: 'hm' };
      yield* textReply('', 'a');
    },
  ]);
  const events = await collect(
    createContentProtocol().executeStreaming(createProtocolContext({ adapter })),
  );
  expect(events.map(({ type }) => type)).toEqual(['reasoning', 'chunk', 'outcome']);
});

test('nothing of the content is kept: not in the outcome, not in a trace', async () => {
  const traceService = createFakeTrace();
  const adapter = createFakeAdapter([textReply(...Array.from({ length: 100 }, () => 'CONTENT'))]);
  const context = createProtocolContext({ adapter, traceService });
  const events = await collect(createContentProtocol().executeStreaming(context));
  expect(JSON.stringify(outcomeOf(events))).not.toContain('CONTENT');
  expect(JSON.stringify(traceService.events)).not.toContain('CONTENT');
  expect(traceService.ofType('llm_result')).toMatchObject([{ details: { textLength: 700 } }]);
});

test('a failure of the adapter after the consumer has left is ignored', async () => {
  const adapter = createFakeAdapter([
    async function* () {
      yield { type: 'text-delta', text: 'a' };
      await Promise.resolve();
      throw new Error('late');
    },
  ]);
  const iterator = createContentProtocol()
    .executeStreaming(createProtocolContext({ adapter }))
    [Symbol.asyncIterator]();
  await iterator.next();
  const waiting = iterator.next();
  await iterator.return?.();
  expect((await waiting).done).toBe(true);
  expect((await iterator.next()).done).toBe(true);
});

test('a limit ends a stage also when the adapter ends or throws because of it', async () => {
  const ends: readonly ((clock: FakeClock) => FakeReply)[] = [
    (clock) =>
      async function* ({ options }): AsyncGenerator<LlmEvent> {
        yield { type: 'text-delta', text: 'a line\n' };
        while (options.signal?.aborted !== true) await clock.advance(500);
      },
    (clock) =>
      async function* ({ options }): AsyncGenerator<LlmEvent> {
        yield { type: 'text-delta', text: 'a line\n' };
        while (options.signal?.aborted !== true) await clock.advance(500);
        throw new Error('closed');
      },
  ];
  for (const end of ends) {
    const clock = createFakeClock();
    const context = createProtocolContext({
      clock,
      adapter: createFakeAdapter([end(clock)]),
      config: resolveProtocolConfig({ budget: { maxSeconds: 2 } }),
    });
    const events = await collect(createContentProtocol().executeStreaming(context));
    expect(textOf(events)).toBe('a line\n');
    expect(outcomeOf(events)).toMatchObject({
      kind: 'error',
      error: { code: 'BUDGET_EXHAUSTED', retryable: false },
    });
    expect(clock.pending()).toBe(0);
  }
});

/** Reads a stage; `busy` is what the reader does after its first event, before it reads on. */
async function readSlowly(
  context: ReturnType<typeof createProtocolContext>,
  busy: () => unknown,
): Promise<readonly ProtocolEvent[]> {
  const events: ProtocolEvent[] = [];
  for await (const event of createContentProtocol().executeStreaming(context)) {
    events.push(event);
    if (events.length === 1) await busy();
  }
  return events;
}

test.for<readonly [string, readonly LlmEvent[]]>([
  ['breaks off', [{ type: 'error', error: ABORTED }]],
  // A file is not written after its turn was cancelled.
  ['is complete', [{ type: 'finish', reason: 'stop' }]],
])('text that had arrived before an abort goes through: a message that %s', async ([, last]) => {
  const controller = new AbortController();
  const context = createProtocolContext({
    signal: controller.signal,
    adapter: createFakeAdapter([[...textReply('a\n', 'held\n').slice(0, -1), ...last]]),
  });
  const events = await readSlowly(context, () => controller.abort());
  expect(textOf(events)).toBe('a\nheld\n');
  expect(outcomeOf(events)).toEqual({ kind: 'aborted', appended: [] });
});

test('text that had arrived before the time was up goes through, and no more than that', async () => {
  const held: LlmEvent = { type: 'text-delta', text: 'held\n' };
  const endless = function* (): Generator<LlmEvent> {
    for (;;) yield { type: 'text-delta', text: 'x'.repeat(64 * 1024) };
  };
  for (const [reply, text] of [
    [[held, held, { type: 'error', error: ABORTED }], /^(held\n){2}$/],
    [endless, /^x+$/],
  ] as const) {
    const clock = createFakeClock();
    const context = createProtocolContext({
      clock,
      adapter: createFakeAdapter([reply]),
      config: resolveProtocolConfig({ budget: { maxSeconds: 2 } }),
    });
    const events = await readSlowly(context, () => clock.advance(2000));
    expect(textOf(events)).toMatch(text);
    expect(textOf(events).length).toBeLessThan(1024 * 1024);
    expect(outcomeOf(events)).toMatchObject({ error: { code: 'BUDGET_EXHAUSTED' } });
  }
});

test('a stage that throws after an abort ends as aborted', async () => {
  const controller = new AbortController();
  const context = createProtocolContext({
    signal: controller.signal,
    adapter: createFakeAdapter([
      // oxlint-disable-next-line require-yield -- it fails before it says anything
      async function* (): AsyncGenerator<LlmEvent> {
        controller.abort();
        throw new Error('closed');
      },
    ]),
  });
  const events = await collect(createContentProtocol().executeStreaming(context));
  expect(outcomeOf(events).kind).toBe('aborted');
});

test.for<readonly [string, readonly LlmEvent[]]>([
  ['text', [{ type: 'text-delta', text: 'a' }]],
  ['reasoning', [{ type: 'reasoning-delta', text: 'hm' }]],
  ['an empty text', [{ type: 'text-delta', text: '' }]],
  ['the start of a call', [{ type: 'tool-call-start', index: 0, id: '1', name: 'read_file' }]],
  ['a usage', [{ type: 'usage', usage: usageOf(1) }]],
])('an adapter that throws after %s ends the stage as an error (R158)', async ([, before]) => {
  const clock = createFakeClock();
  const context = createProtocolContext({
    clock,
    config: resolveProtocolConfig({ budget: { maxSeconds: 60 } }),
    adapter: createFakeAdapter([
      async function* () {
        yield* before;
        await clock.advance(1000);
        throw new Error('a defect of the adapter');
      },
    ]),
  });
  const events = await collect(createContentProtocol().executeStreaming(context));
  expect(outcomeOf(events)).toMatchObject({
    kind: 'error',
    error: { message: 'a defect of the adapter' },
  });
  // It is counted, and nothing of it continues.
  expect(context.turnState.spent.content).toMatchObject({ calls: 1, milliseconds: 1000 });
  expect(context.turnState.spent.content.tokens).toBeGreaterThan(0);
  expect(clock.pending()).toBe(0);
});

test('a stage that throws after an abort while the model reasons ends as aborted', async () => {
  const controller = new AbortController();
  const context = createProtocolContext({
    signal: controller.signal,
    adapter: createFakeAdapter([
      async function* () {
        yield { type: 'reasoning-delta', text: 'hm' };
        controller.abort();
        throw new Error('closed');
      },
    ]),
  });
  const events = await collect(createContentProtocol().executeStreaming(context));
  expect(outcomeOf(events).kind).toBe('aborted');
});
