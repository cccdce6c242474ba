import { BEGIN_TOOL_NAME, createTurnState } from '@orion/contracts';
import type {
  LlmEvent,
  Message,
  ProtocolContext,
  ProtocolEvent,
  ProtocolOutcome,
  ProtocolStrategy,
  TurnState,
} from '@orion/contracts';
import { describe, expect, test } from 'vitest';
import { createFakeAdapter, textReply, toolCall } from './fake-adapter.ts';
import { createFakeToolRegistry, readTool } from './fake-tool-registry.ts';
import type { FakeTool } from './fake-tool-registry.ts';
import type { ModelDialect } from './model-dialect.ts';
import { collect, createProtocolContext, outcomeOf, textOf } from './protocol-context.ts';
import { expectValidHistory } from './valid-history.ts';

/**
 * The rules for a protocol that runs tool calls.
 *
 * 1. A result with `next: 'content'` ends the run with `handover`, `appended` ends with the answers to that message's
 *    calls, and no call after it runs (R160).
 * 2. The run that the turn driver starts after it goes on with the same `turnState`: phases are counted on, and what
 *    was called before is not run again (R154, R160, R173). Nor is it, when that state was stored in between.
 * 3. The request of the content stage is in the form in which the protocol's models read a history, ends with the
 *    output of the begin, and lets them call nothing.
 * 4. PLAN mode offers and runs only what is meant for it, found by the exact name, and answers the rest (R177, R178).
 * 5. An abort, or a reader that leaves, while a tool runs reaches the tool; no model is called afterwards (R139).
 */
export function describeProtocolTools(
  factory: () => ProtocolStrategy,
  dialect: ModelDialect,
  contentStage?: (protocol: ProtocolStrategy) => ProtocolStrategy,
): void {
  const done = (): LlmEvent[] => textReply(dialect.answer('Done.'));
  const begin = toolCall('call_b', BEGIN_TOOL_NAME, { target_file: 'a.txt' });
  const read = toolCall('call_r', 'read_file', { path: 'a.txt' });
  const beginTool: FakeTool = {
    effect: 'write',
    run: () => ({ success: true, result: { stage: 'awaiting_content' }, next: 'content' }),
  };
  const tools = () =>
    createFakeToolRegistry({
      read_file: readTool({ content: 'a' }),
      read_file_and_delete: { ...readTool('gone'), inPlanMode: false },
      [BEGIN_TOOL_NAME]: beginTool,
    });
  const play = async (context: ProtocolContext) => {
    const events = await collect(factory().executeStreaming(context));
    const outcome = outcomeOf(events);
    const messages = [...context.messages, ...outcome.appended];
    expectValidHistory(messages);
    return { events, outcome, messages };
  };

  describe('handover (R160)', () => {
    test.skipIf(contentStage === undefined)(
      'the file is asked for in a form that the model reads',
      async () => {
        const adapter = createFakeAdapter(
          [dialect.calls([begin], 'I write it.'), textReply('a line\n')],
          { structuredOutput: true },
        );
        const toolRegistry = tools();
        const context = createProtocolContext({ adapter, toolRegistry });
        const { messages } = await play(context);
        const stage = contentStage?.(factory()) ?? factory();
        const events = await collect(stage.executeStreaming({ ...context, messages }));
        expect(textOf(events)).toBe('a line\n');
        const { messages: sent = [], options } = adapter.requests[1] ?? {};
        expect(sent.at(-1)?.content).toContain('awaiting_content');
        expect(sent.slice(0, context.messages.length)).toEqual(
          expect.arrayContaining(context.messages.filter(({ role }) => role === 'system')),
        );
        if (dialect.readsCalls === false) {
          expect(options?.tools).toBeUndefined();
          expect(sent.map(({ role }) => role)).not.toContain('tool');
          expect(JSON.stringify(sent)).not.toContain('toolCalls');
        } else {
          expect(options?.tool_choice).toBe('none');
          expect(options?.tools?.map(({ name }) => name)).toContain(BEGIN_TOOL_NAME);
          expect(sent).toEqual(messages);
        }
      },
    );

    test('ends the run with the begin that asked for it; calls after it are not run', async () => {
      const adapter = createFakeAdapter([dialect.calls([begin, read], 'I write it.'), done()], {
        structuredOutput: true,
      });
      const toolRegistry = tools();
      const { events, outcome } = await play(createProtocolContext({ adapter, toolRegistry }));
      const call = handedOver(outcome);
      expect(call.name).toBe(BEGIN_TOOL_NAME);
      expect(outcome).toMatchObject({ result: { toolCallId: call.id, next: 'content' } });
      expect(toolRegistry.ran).toEqual([call.id]);
      expect(adapter.requests).toHaveLength(1);
      expect(adapter.open()).toBe(0);

      // The history ends with the message that called, and the answers to its calls.
      const from = outcome.appended.findLastIndex((message) => message.role === 'assistant');
      const [assistant, ...answers] = outcome.appended.slice(from);
      const calls = assistant?.role === 'assistant' ? (assistant.toolCalls ?? []) : [];
      expect(calls.map(({ id }) => id)).toContain(call.id);
      expect(answers.map(({ role }) => role)).toEqual(calls.map(() => 'tool'));
      for (const answer of answers) {
        if (answer.role !== 'tool' || answer.toolCallId === call.id) continue;
        expect(answer.content).toContain('error');
      }
      expect(events.filter((event) => event.type === 'tool_result')).toHaveLength(calls.length);
    });

    test('is followed by a run that goes on with the same turn state', async () => {
      const turnState = createTurnState();
      const toolRegistry = tools();
      const adapter = createFakeAdapter([dialect.calls([begin]), done()], {
        structuredOutput: true,
      });
      const first = await play(createProtocolContext({ adapter, toolRegistry, turnState }));
      handedOver(first.outcome);
      const between = turnState.nextPhaseIndex;
      const messages: readonly Message[] = first.messages;
      const second = await play(
        createProtocolContext({ adapter, toolRegistry, turnState, messages }),
      );
      expect(second.outcome.kind).toBe('complete');
      expect(textOf(second.events)).toBe('Done.');
      const indexes = phasesOf([...first.events, ...second.events]);
      expect(indexes).toEqual(indexes.map((_, index) => index));
      expect(phasesOf(second.events)[0]).toBe(between);
      expect(turnState.nextPhaseIndex).toBe(indexes.length);
      // The model is shown what it has called before.
      expect(JSON.stringify(adapter.requests[1]?.messages)).toContain('awaiting_content');
    });

    test('is followed by the same run when the turn state was stored in between', async () => {
      const turnState = createTurnState();
      const adapter = createFakeAdapter([dialect.calls([begin])], { structuredOutput: true });
      const { messages, outcome } = await play(
        createProtocolContext({ adapter, toolRegistry: tools(), turnState }),
      );
      handedOver(outcome);
      const next = async (state: TurnState) => {
        const replies = [dialect.calls([read]), dialect.calls([read])];
        const model = createFakeAdapter([...replies, ...Array.from({ length: 9 }, () => done())], {
          structuredOutput: true,
        });
        const { events } = await play(
          createProtocolContext({
            adapter: model,
            toolRegistry: tools(),
            turnState: state,
            messages,
          }),
        );
        return { events, state, sent: model.requests.map((request) => request.messages) };
      };
      const stored = JSON.parse(JSON.stringify(turnState)) as TurnState;
      expect(await next(stored)).toEqual(await next(structuredClone(turnState)));
    });

    test('does not make the next run forget what ran before it (R173)', async () => {
      const turnState = createTurnState();
      const toolRegistry = tools();
      let messages: readonly Message[] = createProtocolContext().messages;
      // Two runs of one turn, as before and after a file.
      for (const reply of [dialect.calls([read]), dialect.calls([read])]) {
        const adapter = createFakeAdapter([reply, ...Array.from({ length: 9 }, () => done())], {
          structuredOutput: true,
        });
        const context = createProtocolContext({ adapter, toolRegistry, turnState, messages });
        ({ messages } = await play(context));
      }
      expect(toolRegistry.ran).toHaveLength(1);
    });
  });

  test.for([BEGIN_TOOL_NAME, 'read_file_and_delete'])(
    'PLAN mode does not run %s, and answers it (R177, R178)',
    async (name) => {
      const adapter = createFakeAdapter(
        [
          dialect.calls([toolCall('call_1', name, { target_file: 'a.txt' })]),
          ...Array.from({ length: 9 }, () => done()),
        ],
        { structuredOutput: true },
      );
      const toolRegistry = tools();
      const context = createProtocolContext({ adapter, toolRegistry, mode: 'plan' });
      const { events, outcome } = await play(context);
      expect(toolRegistry.ran).toEqual([]);
      expect(outcome.kind).toBe('complete');
      const answers = outcome.appended.filter((message) => message.role === 'tool');
      expect(answers).toHaveLength(1);
      expect(answers[0]?.content).toContain('TOOL_NOT_ALLOWED');
      expect(textOf(events, 'notice')).toContain(name);
      for (const { options } of adapter.requests) {
        expect((options.tools ?? []).map((tool) => tool.name)).not.toContain(name);
      }
      // Nor in a prompt: the model has not called it yet.
      expect(JSON.stringify(adapter.requests[0]?.messages)).not.toContain(name);
    },
  );

  const slow = () => {
    const controller = new AbortController();
    let started = (): void => undefined;
    const running = new Promise<void>((resolve) => {
      started = resolve;
    });
    let reached = false;
    const toolRegistry = createFakeToolRegistry({
      read_file: {
        effect: 'read',
        run: (_args, { signal }) =>
          new Promise((resolve) => {
            const end = (): void => {
              reached = true;
              const error = { code: 'ABORTED', message: 'cancelled', retryable: false } as const;
              resolve({ success: false, error });
            };
            if (signal.aborted) end();
            else signal.addEventListener('abort', end, { once: true });
            started();
          }),
      },
    });
    const adapter = createFakeAdapter([dialect.calls([read])], { structuredOutput: true });
    const { signal } = controller;
    const context = createProtocolContext({ adapter, toolRegistry, signal });
    return { context, adapter, controller, running, wasReached: () => reached };
  };

  test('an abort while a tool runs reaches the tool and ends the run as aborted (R139)', async () => {
    const { context, adapter, controller, running, wasReached } = slow();
    const playing = play(context);
    await running;
    controller.abort();
    const { outcome } = await playing;
    expect(outcome.kind).toBe('aborted');
    expect(wasReached()).toBe(true);
    // The call was made: the history says so, and has its answer.
    expect(outcome.appended.some((message) => message.role === 'tool')).toBe(true);
    expect(adapter.requests).toHaveLength(1);
  });

  test('a consumer that leaves while a tool runs stops it (R139)', async () => {
    const { context, adapter, running, wasReached } = slow();
    const iterator = factory().executeStreaming(context)[Symbol.asyncIterator]();
    const reading = (async () => {
      for (let step = await iterator.next(); step.done !== true;) step = await iterator.next();
    })();
    await running;
    await iterator.return?.();
    await reading;
    expect(wasReached()).toBe(true);
    expect(adapter.requests).toHaveLength(1);
    expect(adapter.open()).toBe(0);
  });
}

function handedOver(
  outcome: ProtocolOutcome,
): Extract<ProtocolOutcome, { kind: 'handover' }>['call'] {
  if (outcome.kind !== 'handover') throw new Error(`a handover was due, not ${outcome.kind}`);
  return outcome.call;
}

function phasesOf(events: readonly ProtocolEvent[]): number[] {
  return events.flatMap((event) => (event.type === 'phase' ? [event.index] : []));
}
