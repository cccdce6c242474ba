import { isDeepStrictEqual } from 'node:util';
import type { LlmEvent, Message, ProtocolContext, ProtocolStrategy } from '@orion/contracts';
import fastCheck from 'fast-check';
import { describe, expect, test } from 'vitest';
import { callsReply, createFakeAdapter, textReply, toolCall } from './fake-adapter.ts';
import type { FakeReply } from './fake-adapter.ts';
import { createFakeToolRegistry, readTool } from './fake-tool-registry.ts';
import { collect, createProtocolContext, outcomeOf, textOf } from './protocol-context.ts';

/**
 * What every protocol keeps, whatever the model does.
 *
 * 1. Exactly one outcome, always last (R137, R163).
 * 2. `appended` is valid for a provider: calls and answers pair up (R140).
 * 3. Nothing in the context is changed but `turnState` (R134).
 * 4. An abort, or a consumer that leaves, closes the request (R139).
 * 5. Nothing that a model, a tool or a provider does is thrown (R158).
 */
export function describeProtocolContract(name: string, factory: () => ProtocolStrategy): void {
  describe(`protocol contract: ${name}`, () => {
    const readRegistry = () =>
      createFakeToolRegistry({ read_file: readTool({ content: 'a' }), list_files: readTool([]) });
    const read = toolCall('call_1', 'read_file', { path: 'a.txt' });
    const cut = toolCall('call_2', 'read_file', '{"path": "a', 'cut');
    const replies: Readonly<Record<string, readonly LlmEvent[]>> = {
      text: textReply('Hello', ' there'),
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
      'a call': callsReply([read], 'Let me look.'),
      'a cut call': callsReply([cut]),
      'a nameless call': callsReply([toolCall('', ' ', {})]),
      'calls of one id': callsReply([read, { ...read, name: 'list_files' }]),
      'a length stop': [
        { type: 'text-delta', text: 'Hel' },
        { type: 'finish', reason: 'length' },
      ],
    };

    // After the case's own reply every further call of the protocol gets a plain answer.
    const contextFor = (reply: FakeReply, more: Partial<ProtocolContext> = {}): ProtocolContext =>
      createProtocolContext({
        adapter: createFakeAdapter([reply, ...Array.from({ length: 9 }, () => textReply('Done.'))]),
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
        const context = contextFor(callsReply([read]), { toolRegistry });
        const { appended } = outcomeOf(await collect(factory().executeStreaming(context)));
        expectValidHistory([...context.messages, ...appended]);
      }
    });

    test('changes nothing in the context but its turn state', async () => {
      const context = contextFor(callsReply([read], 'Looking.'));
      for (const message of context.messages) Object.freeze(message);
      Object.freeze(context.messages);
      Object.freeze(context.config);
      Object.freeze(context);
      outcomeOf(await collect(factory().executeStreaming(context)));
    });

    test('refuses a malformed context before any model call', () => {
      const context = contextFor(textReply('Hello'));
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
        { signal: undefined },
      ];
      for (const change of broken) {
        const malformed = { ...context, ...change } as unknown as ProtocolContext;
        expect(() => factory().executeStreaming(malformed)).toThrow(/Protocol context/);
      }
    });

    test('an abort before the start asks no provider', async () => {
      const adapter = createFakeAdapter([textReply('Hello')]);
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

      const events = [];
      for await (const event of factory().executeStreaming(context)) {
        events.push(event);
        if (event.type === 'chunk') controller.abort();
      }
      expect(outcomeOf(events).kind).toBe('aborted');
      expect(adapter.open()).toBe(0);
    });

    test('a consumer that leaves closes the request', async () => {
      const adapter = createFakeAdapter([textReply('a', 'b', 'c')]);
      const context = createProtocolContext({ adapter });
      for await (const event of factory().executeStreaming(context)) {
        if (event.type === 'chunk') break;
      }
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
      for (;;) {
        const step = await iterator.next();
        if (step.done === true || step.value.type === 'chunk') break;
      }
      const waiting = iterator.next();
      await iterator.return?.();
      await waiting;
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
            const reply: LlmEvent[] = [
              { type: 'text-delta', text: 'start' },
              ...parts.map(([thought, text]): LlmEvent =>
                thought ? { type: 'reasoning-delta', text } : { type: 'text-delta', text },
              ),
              { type: 'finish', reason: 'stop' },
            ];
            const adapter = createFakeAdapter([reply]);
            const events = await collect(
              factory().executeStreaming(createProtocolContext({ adapter })),
            );
            const said = parts.map(([thought, text]) => (thought ? '' : text)).join('');
            expect(textOf(events)).toBe(`start${said}`);
            expect(['complete', 'message_end']).toContain(outcomeOf(events).kind);
          },
        ),
        { numRuns: 50 },
      );
    });

    test('has a name, and says whether it can handle a context', () => {
      expect(factory().getName()).toMatch(/^[a-z-]+$/);
      expect(typeof factory().canHandle(contextFor(textReply('a')))).toBe('boolean');
    });
  });
}

/** Throws unless every call id of an assistant message is answered, once, before anybody else speaks. */
export function expectValidHistory(messages: readonly Message[]): void {
  let open: string[] = [];
  const seen = new Set<string>();
  for (const message of messages) {
    if (message.role === 'tool') {
      expect(open, `the answer to ${message.toolCallId} has an open call`).toContain(
        message.toolCallId,
      );
      open = open.filter((id) => id !== message.toolCallId);
      continue;
    }
    expect(open, 'calls without an answer').toEqual([]);
    if (message.role !== 'assistant') continue;
    const calls = message.toolCalls ?? [];
    open = calls.map((call) => call.id);
    expect(new Set(open).size, 'call ids are distinct').toBe(open.length);
    for (const call of calls) {
      expect(call.id).not.toBe('');
      expect(seen, 'a call id is used once').not.toContain(call.id);
      seen.add(call.id);
      expect(call.name).toMatch(/^[\w.-]+$/);
      expect(JSON.parse(call.arguments === '' ? '{}' : call.arguments)).toBeTypeOf('object');
    }
    expect(calls.length > 0 || message.content !== '').toBe(true);
  }
  expect(open, 'calls without an answer').toEqual([]);
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
