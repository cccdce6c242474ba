import { createTurnState } from '@orion/contracts';
import type { LlmEvent, ProtocolStrategy } from '@orion/contracts';
import {
  callsReply,
  collect,
  createFakeAdapter,
  createFakeClock,
  createFakeToolRegistry,
  createProtocolContext,
  outcomeOf,
  readTool,
  textOf,
  textReply,
  toolCall,
} from '@orion/testkit';
import type { FakeReply, FakeTool } from '@orion/testkit';
import { describe, expect, test } from 'vitest';
import { resolveProtocolConfig } from '../base/config.ts';
import type { ProtocolConfigInput } from '../base/config.ts';
import { createContentProtocol } from '../content/content-protocol.ts';
import { createControllerProtocol } from '../controller/controller-protocol.ts';
import { CONTROLLER_DIALECT } from '../controller/testing/dialect.ts';
import { createStandardProtocol } from '../standard/standard-protocol.ts';
import { createTwoStageProtocol } from '../two-stage/two-stage-protocol.ts';
import { findStop } from './verdict.ts';
import { runProtocol } from '../testing/run-protocol.ts';

type Setup = {
  readonly replies: (clock: ReturnType<typeof createFakeClock>) => readonly FakeReply[];
  readonly config?: ProtocolConfigInput;
  readonly tool?: (clock: ReturnType<typeof createFakeClock>) => FakeTool;
  readonly protocol?: () => ProtocolStrategy;
};

async function run({ replies, config, tool, protocol = createStandardProtocol }: Setup) {
  const clock = createFakeClock();
  const tools = { read_file: tool?.(clock) ?? readTool('abc') };
  const ran = await runProtocol(protocol(), replies(clock), tools, { clock, config });
  expect(clock.pending(), 'no timer is left').toBe(0);
  expect(ran.adapter.open()).toBe(0);
  return { ...ran, clock };
}

/** Text, and then nothing until the request is closed; the clock advances meanwhile. */
const silentAfter = (clock: ReturnType<typeof createFakeClock>, text: string): FakeReply =>
  async function* ({ options }): AsyncGenerator<LlmEvent> {
    yield { type: 'text-delta', text };
    while (options.signal?.aborted !== true) await clock.advance(1000);
    yield { type: 'error', error: { code: 'ABORTED', message: 'closed', retryable: false } };
  };

/** One character after the other until the request is closed. */
const endless: FakeReply = async function* ({ options }): AsyncGenerator<LlmEvent> {
  while (options.signal?.aborted !== true) yield { type: 'text-delta', text: 'word ' };
};

const read = (id: string) => callsReply([toolCall(id, 'read_file', { path: id })]);

describe.for([
  ['standard', createStandardProtocol],
  ['two-stage', createTwoStageProtocol],
] as const)('%s', ([, protocol]) => {
  test('a model that falls silent is cut after 120 s and answers within 10 s (R169, R170)', async () => {
    const { clock, adapter, events, outcome } = await run({
      protocol,
      replies: (time) => [silentAfter(time, 'Let me'), textReply('Here.')],
    });
    expect(clock.monotonic()).toBe(120_000);
    expect(adapter.requests[1]?.options.tools).toBeUndefined();
    expect(adapter.requests[1]?.messages.at(-1)?.content).toContain('Answer now');
    expect(outcome).toMatchObject({ kind: 'stopped', stopReason: 'time' });
    expect(textOf(events)).toBe('Let meHere.');
  });

  test('the last answer has 10 s, and what exists then is the answer', async () => {
    const { clock, outcome, events } = await run({
      protocol,
      replies: (time) => [silentAfter(time, 'a'), silentAfter(time, 'b')],
    });
    expect(clock.monotonic()).toBe(130_000);
    expect(outcome).toMatchObject({ kind: 'stopped', stopReason: 'time' });
    expect(textOf(events)).toBe('ab');
  });

  test('a model that never ends is cut at its tokens, which are estimated without a count', async () => {
    const { adapter, outcome, events, state } = await run({
      protocol,
      config: { stopTokens: 100 },
      replies: () => [endless, textReply('Short.')],
    });
    expect(adapter.requests).toHaveLength(2);
    expect(outcome).toMatchObject({ kind: 'stopped', stopReason: 'tokens' });
    expect(textOf(events).length).toBeLessThan(420);
    expect(state.spent.protocol.tokens).toBeGreaterThan(100);
  });

  test('so is one that never ends its last answer', async () => {
    const { outcome, events } = await run({
      protocol,
      config: { stopTokens: 100 },
      replies: () => [endless, endless],
    });
    expect(outcome).toMatchObject({ kind: 'stopped', stopReason: 'tokens' });
    expect(textOf(events).length).toBeLessThan(4 * (100 + 4096) + 20);
  });

  test('the count of the provider replaces the estimate', async () => {
    const usage = { inputTokens: 9, outputTokens: 150, cachedTokens: 0, reasoningTokens: 0 };
    const { outcome } = await run({
      protocol,
      config: { stopTokens: 100 },
      replies: () => [
        [...read('1').slice(0, -2), { type: 'usage', usage }, ...read('1').slice(-2)],
        textReply('Enough.'),
      ],
    });
    expect(outcome).toMatchObject({ kind: 'stopped', stopReason: 'tokens' });
  });

  test('time in tools is not time of the model', async () => {
    const { outcome, clock } = await run({
      protocol,
      replies: () => [read('1'), textReply('done')],
      tool: (time) => ({
        effect: 'read',
        run: async () => {
          await time.advance(500_000);
          return { success: true, result: 'slow' };
        },
      }),
    });
    expect(outcome.kind).toBe('complete');
    expect(clock.monotonic()).toBe(500_000);
  });
});

const used = (outputTokens: number): LlmEvent => ({
  type: 'usage',
  usage: { inputTokens: 9, outputTokens, cachedTokens: 0, reasoningTokens: 0 },
});

describe.for([
  ['standard', createStandardProtocol, 'complete'],
  ['two-stage', createTwoStageProtocol, 'complete'],
  ['controller', createControllerProtocol, 'complete'],
  ['content', createContentProtocol, 'message_end'],
] as const)('a count of the provider beyond the limit: %s', ([name, protocol, kind]) => {
  const said = name === 'controller' ? CONTROLLER_DIALECT.answer('The answer.') : 'The answer.';
  const counted = (outputTokens: number): FakeReply => [
    { type: 'text-delta', text: said },
    used(outputTokens),
    { type: 'finish', reason: 'stop' },
  ];

  test('leaves a whole answer what it is, and is spent (R138, R169, R170)', async () => {
    for (const config of [{}, { budget: { maxTokens: 1000 } }]) {
      const { events, outcome, adapter, state } = await run({
        protocol,
        config,
        replies: () => [counted(40_000)],
      });
      expect(adapter.requests).toHaveLength(1);
      expect(outcome.kind).toBe(kind);
      expect(textOf(events)).toBe('The answer.');
      const { protocol: asked, content } = state.spent;
      expect(asked.tokens + content.tokens).toBe(40_000);
    }
  });

  test('an early count does not hide what came after it', async () => {
    const { state } = await run({
      protocol,
      config: { budget: { maxTokens: 100 } },
      replies: () => [
        [
          { type: 'text-delta', text: said },
          { type: 'text-delta', text: 'word '.repeat(60) },
          used(1),
          { type: 'error', error: { code: 'STREAM_BROKEN', message: 'broken', retryable: true } },
        ],
      ],
    });
    const { protocol: asked, content } = state.spent;
    expect(asked.tokens + content.tokens).toBeGreaterThan(75);
  });
});

test.for([
  ['standard', createStandardProtocol],
  ['two-stage', createTwoStageProtocol],
] as const)(
  '%s: calls that came whole are run, and no more are asked for',
  async ([, protocol]) => {
    const { toolRegistry, outcome, adapter } = await run({
      protocol,
      replies: () => [
        [...read('1').slice(0, -1), used(40_000), ...read('1').slice(-1)],
        textReply('Enough.'),
      ],
    });
    expect(toolRegistry.ran).toEqual(['1']);
    expect(adapter.requests[1]?.options.tools).toBeUndefined();
    expect(outcome).toMatchObject({ kind: 'stopped', stopReason: 'tokens' });
  },
);

describe('budgets of the user (R251)', () => {
  test('--max-turns counts model calls; the model is not called again, and calls whose results it could not read do not run', async () => {
    const { outcome, toolRegistry, events, traceService } = await run({
      config: { budget: { maxTurns: 2 } },
      replies: () => [read('1'), read('2')],
    });
    expect(toolRegistry.ran).toEqual(['1']);
    expect(outcome).toMatchObject({ kind: 'stopped', stopReason: 'max_turns' });
    const results = events.flatMap((event) => (event.type === 'tool_result' ? [event.result] : []));
    expect(results[1]).toMatchObject({ success: false, error: { code: 'BUDGET_EXHAUSTED' } });
    expect(traceService.ofType('budget_exhausted')).toMatchObject([
      { details: { stopReason: 'max_turns', limit: 'maxTurns', value: 2 } },
    ]);
  });

  test('an answer in the last turn that is allowed is complete', async () => {
    const { outcome } = await run({
      config: { budget: { maxTurns: 2 } },
      replies: () => [read('1'), textReply('done')],
    });
    expect(outcome.kind).toBe('complete');
  });

  test('--max-seconds ends a model that falls silent, without another call', async () => {
    const { outcome, clock, events } = await run({
      config: { budget: { maxSeconds: 7 } },
      replies: (time) => [silentAfter(time, 'Let me')],
    });
    expect(clock.monotonic()).toBe(7000);
    expect(outcome).toMatchObject({ kind: 'stopped', stopReason: 'max_seconds' });
    expect(textOf(events)).toBe('Let me');
  });

  test('--max-seconds ends a tool that hangs', async () => {
    const clock = createFakeClock();
    const adapter = createFakeAdapter([read('1')]);
    const toolRegistry = createFakeToolRegistry({
      read_file: {
        effect: 'read',
        run: async (_args, { signal }) => {
          while (!signal.aborted) await clock.advance(1000);
          return {
            success: false,
            error: { code: 'ABORTED', message: 'cancelled', retryable: false },
          };
        },
      },
    });
    const context = createProtocolContext({
      adapter,
      clock,
      toolRegistry,
      config: resolveProtocolConfig({ budget: { maxSeconds: 3 } }),
    });
    const outcome = outcomeOf(await collect(createStandardProtocol().executeStreaming(context)));
    expect(outcome).toMatchObject({ kind: 'stopped', stopReason: 'max_seconds' });
    expect(clock.monotonic()).toBe(3000);
    expect(clock.pending()).toBe(0);
  });

  test('--max-tokens cuts what streams, without another call', async () => {
    const { outcome, events } = await run({
      config: { budget: { maxTokens: 50 } },
      replies: () => [endless],
    });
    expect(outcome).toMatchObject({ kind: 'stopped', stopReason: 'max_tokens' });
    expect(textOf(events).length).toBeLessThan(220);
  });

  test('a content stage counts, and ends as an error that pauses its session', async () => {
    for (const [budget, reply] of [
      [{ maxSeconds: 5 }, (time: ReturnType<typeof createFakeClock>) => silentAfter(time, 'a')],
      [{ maxTokens: 50 }, () => endless],
    ] as const) {
      const { outcome, state, events } = await run({
        protocol: createContentProtocol,
        config: { budget },
        replies: (time) => [reply(time)],
      });
      expect(outcome).toMatchObject({
        kind: 'error',
        error: { code: 'BUDGET_EXHAUSTED', retryable: false },
      });
      expect(state.stop?.reason).toBe(
        Object.keys(budget)[0] === 'maxTokens' ? 'max_tokens' : 'max_seconds',
      );
      expect(textOf(events)).not.toBe('');
      expect(state.spent.content.calls).toBe(1);
      expect(state.spent.protocol.calls).toBe(0);
    }
  });

  test('a content stage that may make no call makes none', async () => {
    const { outcome } = await run({
      protocol: createContentProtocol,
      config: { budget: { maxTurns: 0 } },
      replies: () => [],
    });
    expect(outcome).toMatchObject({ kind: 'error', error: { code: 'BUDGET_EXHAUSTED' } });
  });

  test('the stop policy leaves a content stage alone (R169)', async () => {
    const { outcome, clock } = await run({
      protocol: createContentProtocol,
      config: { stopSeconds: 1, stopTokens: 1 },
      replies: (time) => [
        async function* (): AsyncGenerator<LlmEvent> {
          for (let line = 0; line < 100; line++) {
            await time.advance(10_000);
            yield { type: 'text-delta', text: 'a line of the file\n' };
          }
          yield { type: 'finish', reason: 'stop' };
        },
      ],
    });
    expect(clock.monotonic()).toBe(1_000_000);
    expect(outcome.kind).toBe('message_end');
  });
});

test('of limits that are reached at the same time, the first in rank is reported', () => {
  const state = createTurnState();
  const config = resolveProtocolConfig({
    budget: { maxTurns: 1, maxSeconds: 1, maxTokens: 1 },
    stopSeconds: 1,
    stopTokens: 1,
  });
  const clock = { ...createFakeClock(), monotonic: () => 5000 };
  let startedAt = 0;
  state.duplicates = 3;
  state.progress.idlePhases = 2;
  Object.assign(state.spent.protocol, { calls: 1, milliseconds: 1000, tokens: 1 });
  const reasons: (string | undefined)[] = [];
  const relax: (() => void)[] = [
    () => (state.spent.protocol.calls = 0),
    () => (startedAt = 5000),
    () => (state.spent.protocol.tokens = 0),
    () => (state.duplicates = 0),
    () => (state.progress.idlePhases = 0),
    () => (state.spent.protocol.milliseconds = 0),
  ];
  for (const next of [...relax, () => undefined]) {
    reasons.push(findStop({ turnState: state, config, clock, startedAt })?.reason);
    next();
  }
  expect(reasons).toEqual([
    'max_turns',
    'max_seconds',
    'max_tokens',
    'duplicates',
    'progress',
    'time',
    undefined,
  ]);
  state.spent.protocol.tokens = 1;
  const tokensAlone = resolveProtocolConfig({ stopTokens: 1 });
  expect(findStop({ turnState: state, config: tokensAlone, clock, startedAt })).toMatchObject({
    reason: 'tokens',
    limit: 'stopTokens',
    value: 1,
  });
});
