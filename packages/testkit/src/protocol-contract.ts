import { isDeepStrictEqual } from 'node:util';
import { createTurnState } from '@orion/contracts';
import type { LlmEvent, ProtocolContext, ProtocolEvent, ProtocolStrategy } from '@orion/contracts';
import fastCheck from 'fast-check';
import { describe, expect, test } from 'vitest';
import { callsReply, createFakeAdapter, textReply, toolCall } from './fake-adapter.ts';
import type { FakeAdapter, FakeReply, SentRequest } from './fake-adapter.ts';
import { createFakeClock } from './fake-clock.ts';
import { createFakeToolRegistry, readTool } from './fake-tool-registry.ts';
import { NATIVE_DIALECT } from './model-dialect.ts';
import type { ModelDialect } from './model-dialect.ts';
import { collect, createProtocolContext, outcomeOf, textOf } from './protocol-context.ts';
import { describeProtocolTools } from './protocol-tools-contract.ts';
import { expectValidHistory } from './valid-history.ts';

export type ProtocolContractOptions = {
  readonly dialect?: ModelDialect;
  /** How many model calls a run may make for a model that does one thing for ever. */
  readonly maxModelCalls?: number;
  /** The stage that streams a file, given the protocol that it streams for; then the handover to it is checked. */
  readonly contentStage?: (protocol: ProtocolStrategy) => ProtocolStrategy;
  /** False for one that runs no tool calls, as the content stage. */
  readonly runsCalls?: boolean;
};

/**
 * What every protocol keeps, whatever the model does. A protocol of one's own runs it like those that exist.
 *
 * 1. Exactly one outcome, always last (R137, R163).
 * 2. `appended` is valid for a provider: calls and answers pair up (R140).
 * 3. Nothing in the context is changed but `turnState` (R134).
 * 4. An abort, or a consumer that leaves, closes the request (R139).
 * 5. Nothing that a model, a tool or a provider does is thrown (R158).
 * 6. A model that does one thing for ever is left after a bounded number of calls, one that falls silent or never
 *    ends after the time and tokens of the configuration, and no timer is left behind (R169, R170).
 * 7. Two runs of one instance know nothing of each other (R172).
 * 8. An undefined limit means the default; an invalid one is refused before any model call (R135).
 * 9. `describeProtocolTools` has the further rules for a protocol that runs calls.
 */
export function describeProtocolContract(
  name: string,
  factory: () => ProtocolStrategy,
  options: ProtocolContractOptions = {},
): void {
  const { dialect = NATIVE_DIALECT, maxModelCalls = 21, runsCalls = true, contentStage } = options;
  const say = (...texts: readonly string[]): LlmEvent[] =>
    textReply(dialect.answer(texts.join('')));
  describe(`protocol contract: ${name}`, () => {
    const readRegistry = () =>
      createFakeToolRegistry({ read_file: readTool({ content: 'a' }), list_files: readTool([]) });
    const read = toolCall('call_1', 'read_file', { path: 'a.txt' });
    const cut = toolCall('call_2', 'read_file', '{"path": "a', 'cut');
    const replies: Readonly<Record<string, readonly LlmEvent[]>> = {
      text: say('Hello', ' there'),
      'nothing at all': [],
      'an empty message': textReply(),
      'text and no end': [{ type: 'text-delta', text: 'Hel' }],
      'an error after text': [
        { type: 'text-delta', text: 'Hel' },
        {
          type: 'error',
          error: { code: 'STREAM_BROKEN', message: 'The connection broke', retryable: true },
        },
      ],
      'a call': dialect.calls([read], 'Let me look.'),
      'a cut call': callsReply([cut]),
      'a nameless call': callsReply([toolCall('', ' ', {})]),
      'calls of one id': callsReply([read, { ...read, name: 'list_files' }]),
      'half an object': textReply('{"action":"next_st'),
      'a length stop': [
        { type: 'text-delta', text: 'Hel' },
        { type: 'finish', reason: 'length' },
      ],
      'a pause without a word': [{ type: 'finish', reason: 'pause' }],
    };
    const refusals: Readonly<Record<string, readonly LlmEvent[]>> = {
      'with text': [
        { type: 'text-delta', text: 'No.' },
        { type: 'finish', reason: 'refusal' },
      ],
      'without a word': [{ type: 'finish', reason: 'refusal' }],
      'with a call': [
        ...dialect.calls([read]).filter((event) => event.type !== 'finish'),
        { type: 'finish', reason: 'refusal' },
      ],
    };

    // After the case's own reply every further call of the protocol gets a plain answer.
    const contextFor = (reply: FakeReply, more: Partial<ProtocolContext> = {}): ProtocolContext =>
      createProtocolContext({
        adapter: createFakeAdapter([reply, ...Array.from({ length: 9 }, () => say('Done.'))], {
          structuredOutput: true,
        }),
        toolRegistry: readRegistry(),
        ...more,
      });

    for (const [title, reply] of Object.entries(replies)) {
      test(`ends with one outcome and a valid history: ${title}`, async () => {
        const context = contextFor(reply);
        const events = await collect(factory().executeStreaming(context));
        const { appended } = outcomeOf(events);
        expectValidHistory([...context.messages, ...appended]);
        expect(isDeepStrictEqual(JSON.parse(JSON.stringify(events)), events)).toBe(true);
      });
    }

    for (const [title, reply] of Object.entries(refusals)) {
      test(`a refusal ${title} is told and no complete answer (R153)`, async () => {
        const context = contextFor(reply);
        const events = await collect(factory().executeStreaming(context));
        const outcome = outcomeOf(events);
        expectValidHistory([...context.messages, ...outcome.appended]);
        if (outcome.kind === 'message_end') expect(outcome.finish).toBe('refusal');
        else if (outcome.kind === 'incomplete') expect(textOf(events, 'notice')).not.toBe('');
        // Reading may stop at the first call, before the refusal has arrived.
        else expect(title).toBe('with a call');
      });
    }

    test('a thrown adapter, a throwing tool and a registry without an answer are outcomes', async () => {
      const throwing = contextFor(() => {
        throw new Error('adapter defect');
      });
      const failed = outcomeOf(await collect(factory().executeStreaming(throwing)));
      expect(failed.kind).toBe('error');

      const registry = createFakeToolRegistry({
        read_file: {
          effect: 'read',
          run: () => {
            throw new Error('tool defect');
          },
        },
      });
      const silent = { ...registry, executeToolCalls: () => Promise.resolve([]) };
      for (const toolRegistry of [registry, silent]) {
        const context = contextFor(dialect.calls([read]), { toolRegistry });
        const { appended } = outcomeOf(await collect(factory().executeStreaming(context)));
        expectValidHistory([...context.messages, ...appended]);
      }
    });

    test.for<LlmEvent>([
      { type: 'text-delta', text: 'Hel' },
      { type: 'reasoning-delta', text: 'hm' },
      { type: 'tool-call-start', index: 0, id: 'call_1', name: 'read_file' },
    ])('an adapter that throws after a $type is an outcome', async (before) => {
      const clock = createFakeClock();
      const context = contextFor(
        async function* () {
          yield before;
          await clock.advance(1000);
          throw new Error('adapter defect');
        },
        { clock },
      );
      const events = await collect(factory().executeStreaming(context));
      expect(outcomeOf(events).kind).toBe('error');
      // The call is counted, and none of it continues.
      const { protocol, content } = context.turnState.spent;
      expect(protocol.milliseconds + content.milliseconds).toBe(1000);
      expect(protocol.tokens + content.tokens).toBeGreaterThan(0);
      expect(clock.pending()).toBe(0);
    });

    test('changes nothing in the context but its turn state', async () => {
      const context = contextFor(dialect.calls([read], 'Looking.'));
      for (const message of context.messages) Object.freeze(message);
      Object.freeze(context.messages);
      Object.freeze(context.config);
      Object.freeze(context);
      outcomeOf(await collect(factory().executeStreaming(context)));
    });

    test('refuses a malformed context before any model call', () => {
      const context = contextFor(say('Hello'));
      const broken: readonly Partial<Record<keyof ProtocolContext, unknown>>[] = [
        { messages: undefined },
        { mode: 'write' },
        { projectId: '' },
        { requestId: undefined },
        { adapter: undefined },
        { toolRegistry: {} },
        { traceService: null },
        { config: undefined },
        { turnState: undefined },
        { clock: {} },
        { signal: undefined },
        { startedAt: undefined },
      ];
      for (const change of broken) {
        const malformed = { ...context, ...change } as unknown as ProtocolContext;
        expect(() => factory().executeStreaming(malformed)).toThrow(/Protocol context/);
      }
    });

    test('refuses a limit that is none before any model call (R135)', () => {
      const context = contextFor(say('Hello'));
      for (const change of [
        { limits: { standard: { maxIterations: Number.NaN } } },
        { limits: { 'two-stage': { maxPhaseCycles: -1 } } },
        { limits: { controller: 3 } },
        { maxDuplicateAttempts: '3' },
        { stopSeconds: Number.POSITIVE_INFINITY },
        { budget: { maxTurns: Number.NaN } },
        { budget: 3 },
      ]) {
        const config = { ...context.config, ...change } as unknown as ProtocolContext['config'];
        expect(() => factory().executeStreaming({ ...context, config })).toThrow(/must be/);
      }
    });

    test('limits that the context leaves undefined have their defaults (R135, R159)', async () => {
      const unset = { ...createProtocolContext().config, budget: undefined };
      for (const name of Object.keys(unset)) Object.assign(unset, { [name]: undefined });
      for (const given of [{}, unset]) {
        const adapter = createFakeAdapter(
          Array.from({ length: maxModelCalls }, (_, index) =>
            dialect.calls([toolCall(`call_${index}`, 'read_file', { path: `${index}` })]),
          ),
          { structuredOutput: true },
        );
        const config = given as unknown as ProtocolContext['config'];
        const context = createProtocolContext({ adapter, toolRegistry: readRegistry(), config });
        const outcome = outcomeOf(await collect(factory().executeStreaming(context)));
        expect(JSON.stringify(outcome)).not.toContain('Unexpected model call');
        expect(outcome.kind).not.toBe('error');
        expect(context.config).toBe(config);
      }
    });

    test('an abort before the start asks no provider', async () => {
      const adapter = createFakeAdapter([say('Hello')]);
      const context = createProtocolContext({ adapter, signal: AbortSignal.abort() });
      const outcome = outcomeOf(await collect(factory().executeStreaming(context)));
      expect(outcome).toEqual({ kind: 'aborted', appended: [] });
      expect(adapter.requests).toEqual([]);
    });

    test('an abort in the middle of a message ends the run as aborted and closes the request', async () => {
      const controller = new AbortController();
      const adapter = createFakeAdapter([() => untilAborted()]);
      const context = createProtocolContext({ adapter, signal: controller.signal });

      async function* untilAborted(): AsyncGenerator<LlmEvent> {
        yield { type: 'text-delta', text: 'Hel' };
        await aborted(adapter.requests[0]?.options.signal);
        yield {
          type: 'error',
          error: { code: 'ABORTED', message: 'cancelled', retryable: false },
        };
      }

      const events: ProtocolEvent[] = [];
      const running = (async () => {
        for await (const event of factory().executeStreaming(context)) events.push(event);
      })();
      await opened(adapter);
      controller.abort();
      await running;
      expect(outcomeOf(events).kind).toBe('aborted');
      expect(adapter.open()).toBe(0);
    });

    test('a consumer that leaves closes the request', async () => {
      const adapter = createFakeAdapter([say('a', 'b', 'c')], { structuredOutput: true });
      const context = createProtocolContext({ adapter });
      for await (const event of factory().executeStreaming(context)) {
        if (event.type === 'chunk') break;
      }
      expect(adapter.requests).toHaveLength(1);
      expect(adapter.open()).toBe(0);
    });

    test('a consumer that leaves while the provider is silent aborts its request', async () => {
      const adapter = createFakeAdapter([() => silence()]);

      async function* silence(): AsyncGenerator<LlmEvent> {
        yield { type: 'text-delta', text: 'Hel' };
        await aborted(adapter.requests[0]?.options.signal);
        yield { type: 'error', error: { code: 'ABORTED', message: 'cancelled', retryable: false } };
      }

      const context = createProtocolContext({ adapter });
      const iterator = factory().executeStreaming(context)[Symbol.asyncIterator]();
      const reading = (async () => {
        for (let step = await iterator.next(); step.done !== true;) step = await iterator.next();
      })();
      await opened(adapter);
      await iterator.return?.();
      await reading;
      expect(adapter.open()).toBe(0);
      expect((await iterator.next()).done).toBe(true);
    });

    test('text goes through whole however it is divided, reasoning never', async () => {
      await fastCheck.assert(
        fastCheck.asyncProperty(
          fastCheck.array(fastCheck.tuple(fastCheck.boolean(), fastCheck.string()), {
            maxLength: 30,
          }),
          async (parts) => {
            const said = parts.map(([thought, text]) => (thought ? '' : text)).join('');
            const reply = divided(dialect.answer(`start${said}`), parts);
            const adapter = createFakeAdapter([reply], { structuredOutput: true });
            const events = await collect(
              factory().executeStreaming(createProtocolContext({ adapter })),
            );
            expect(textOf(events)).toBe(`start${said}`);
            expect(['complete', 'message_end']).toContain(outcomeOf(events).kind);
          },
        ),
        { numRuns: 50 },
      );
    });

    const forEver: Readonly<Record<string, readonly LlmEvent[]>> = {
      'one call': dialect.calls([read]),
      'a broken call': callsReply([cut]),
      'nothing at all': textReply(),
      'a pause without a word': [{ type: 'finish', reason: 'pause' }],
      'half an object': textReply('{"action":'),
      'an unknown tool': dialect.calls([toolCall('call_9', 'nobody', {})]),
    };
    for (const [title, reply] of Object.entries(forEver)) {
      test(`a model that answers with ${title} for ever is left`, async () => {
        const adapter = createFakeAdapter(
          Array.from({ length: maxModelCalls }, () => reply),
          { structuredOutput: true },
        );
        const clock = createFakeClock();
        const toolRegistry = readRegistry();
        const context = createProtocolContext({ adapter, toolRegistry, clock });
        const events = await collect(factory().executeStreaming(context));
        const outcome = outcomeOf(events);
        expectValidHistory([...context.messages, ...outcome.appended]);
        expect(adapter.requests.length).toBeLessThanOrEqual(maxModelCalls);
        expect(toolRegistry.ran.length).toBeLessThanOrEqual(1);
        expect(JSON.stringify(outcome)).not.toContain('Unexpected model call');
        expect(clock.pending()).toBe(0);
      });
    }

    test('a model that falls silent is left when its time is over', async () => {
      const clock = createFakeClock();
      const adapter = createFakeAdapter(
        Array.from(
          { length: 2 },
          () =>
            async function* (request: SentRequest) {
              yield { type: 'text-delta', text: '{' } as const;
              while (request.options.signal?.aborted !== true) await clock.advance(1000);
              yield {
                type: 'error',
                error: { code: 'ABORTED', message: 'closed', retryable: false },
              } as const;
            },
        ),
        { structuredOutput: true },
      );
      const context = createProtocolContext({ adapter, clock });
      const bounded: ProtocolContext = {
        ...context,
        config: { ...context.config, budget: { ...context.config.budget, maxSeconds: 60 } },
      };
      outcomeOf(await collect(factory().executeStreaming(bounded)));
      expect(clock.monotonic()).toBeLessThanOrEqual(60_000);
      expect(clock.pending()).toBe(0);
      expect(adapter.open()).toBe(0);
    });

    test('a model that never ends is left when its tokens are used up', async () => {
      const clock = createFakeClock();
      const adapter = createFakeAdapter(
        Array.from(
          { length: 2 },
          () =>
            function* (): Generator<LlmEvent> {
              for (;;) yield { type: 'text-delta', text: 'for ever and ever ' };
            },
        ),
        { structuredOutput: true },
      );
      const context = createProtocolContext({ adapter, clock });
      const bounded: ProtocolContext = {
        ...context,
        config: { ...context.config, budget: { ...context.config.budget, maxTokens: 1000 } },
      };
      outcomeOf(await collect(factory().executeStreaming(bounded)));
      expect(clock.pending()).toBe(0);
      expect(adapter.open()).toBe(0);
    });

    test('two runs of one instance know nothing of each other', async () => {
      const protocol = factory();
      const kinds = [];
      for (let turn = 0; turn < 2; turn++) {
        const context = contextFor(dialect.calls([read]), { turnState: createTurnState() });
        kinds.push(outcomeOf(await collect(protocol.executeStreaming(context))).kind);
      }
      expect(kinds[1]).toBe(kinds[0]);
    });

    if (runsCalls) describeProtocolTools(factory, dialect, contentStage);

    test('has a name, and says whether it can handle a context', () => {
      expect(factory().getName()).toMatch(/^[a-z-]+$/);
      expect(typeof factory().canHandle(contextFor(say('a')))).toBe('boolean');
    });
  });
}

/** The text in pieces, with thoughts between them. */
function divided(
  text: string,
  parts: readonly (readonly [thought: boolean, text: string])[],
): LlmEvent[] {
  const events: LlmEvent[] = [];
  let at = 0;
  for (const [thought, part] of parts) {
    if (thought) events.push({ type: 'reasoning-delta', text: part });
    else events.push({ type: 'text-delta', text: text.slice(at, (at += part.length)) });
  }
  events.push({ type: 'text-delta', text: text.slice(at) }, { type: 'finish', reason: 'stop' });
  return events;
}

/** Waits until a request has arrived and its answer is being read. */
async function opened(adapter: FakeAdapter): Promise<void> {
  while (adapter.open() === 0) await new Promise((resolve) => setImmediate(resolve));
}

function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal === undefined) {
      reject(new Error('The request carries no signal'));
      return;
    }
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
