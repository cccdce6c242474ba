import { OrionError, defined, toErrorInfo } from '@orion/contracts';
import type {
  ErrorInfo,
  LlmEvent,
  ProtocolContext,
  ProtocolEvent,
  ProtocolOutcome,
  ProtocolStrategy,
  ToolCall,
  TurnStop,
  Usage,
} from '@orion/contracts';
import { BuiltInProtocol } from '../base/base-protocol.ts';
import type { ProtocolParts } from '../base/base-protocol.ts';
import { sendableMessages } from '../base/history.ts';
import { createProtocolTrace } from '../base/protocol-trace.ts';
import type { ProtocolTrace } from '../base/protocol-trace.ts';
import { isAbort, NO_TERMINAL_EVENT } from '../base/stream-errors.ts';
import { allowanceOf } from '../stop-policy/allowance.ts';
import { CallMeter } from '../stop-policy/call-meter.ts';
import { findBudgetStop } from '../stop-policy/verdict.ts';

/** The protocol that a file is streamed for, which decides how its models read the history. */
export type ContentHistory = Pick<ProtocolStrategy, 'getName' | 'contentMessages'>;

/**
 * The stage in which the model's plain text is the content of a file (R160). The turn driver runs it between a begin
 * and its commit. Users cannot select it.
 *
 * 1. It makes one model call for plain text. It offers the same tools as elsewhere, with tool_choice none, so that
 *    the provider's prompt cache stays valid.
 * 2. It ends only with the end of the message, an error or an abort. What had arrived before an abort, or before the
 *    time was up, is passed on first.
 * 3. Text is passed on as it arrives, whatever it contains, and is never collected: it may be 64 MB. `appended` is
 *    therefore empty. The driver decides what the history contains in its place.
 * 4. It uses no iteration, phase or cycle, and the stop policy does not apply. Only the user's budgets end it, with
 *    the non-retryable error BUDGET_EXHAUSTED; the session is then paused (R169, R251).
 */
export function createContentProtocol(history?: ContentHistory): BuiltInProtocol {
  const run: ProtocolParts['run'] = (context, signal) => new ContentRun(context, signal, history);
  return new BuiltInProtocol({ name: 'content', run });
}

const ENDED: IteratorResult<ProtocolEvent, undefined> = { done: true, value: undefined };

/**
 * A hand-written iterator instead of a generator: a file of 100,000 lines is some 300,000 events, and a generator
 * would add two more microtask ticks to each of them.
 */
class ContentRun implements AsyncIterator<ProtocolEvent, undefined, undefined> {
  readonly #context: ProtocolContext;
  readonly #trace: ProtocolTrace;
  readonly #signal: AbortSignal;
  readonly #history: ContentHistory | undefined;
  readonly #calls: ToolCall[] = [];
  #source: AsyncIterator<LlmEvent> | null = null;
  #textLength = 0;
  #reasoned = false;
  #usage: Usage | null = null;
  #meter: CallMeter | null = null;
  #ended = false;

  constructor(context: ProtocolContext, signal: AbortSignal, history: ContentHistory | undefined) {
    this.#context = context;
    this.#trace = createProtocolTrace(context, 'content');
    this.#signal = signal;
    this.#history = history;
  }

  next(): Promise<IteratorResult<ProtocolEvent, undefined>> {
    if (this.#ended) return Promise.resolve(ENDED);
    try {
      if (this.#source === null && this.#signal.aborted)
        return Promise.resolve(this.#end({ kind: 'aborted', appended: [] }));
      const meter = this.#meter;
      const stop = meter === null ? findBudgetStop(this.#context) : meter.cut;
      if (stop !== null && meter?.hasLastWords !== true)
        return Promise.resolve(this.#endAtLimit(stop));
      this.#source ??= this.#open();
      return this.#source.next().then(this.#onStep, this.#onFailure);
    } catch (error) {
      return Promise.resolve(this.#onFailure(error));
    }
  }

  async return(): Promise<IteratorResult<ProtocolEvent, undefined>> {
    this.#ended = true;
    this.#meter?.end();
    const source = this.#source;
    this.#source = null;
    await source?.return?.();
    return ENDED;
  }

  #open(): AsyncIterator<LlmEvent> {
    const { adapter, toolRegistry, mode, config, requestId, projectId } = this.#context;
    const { messages: history, clock, turnState } = this.#context;
    const allowance = allowanceOf(this.#context, 'content');
    const meter = new CallMeter(clock, turnState.spent.content, allowance, this.#signal);
    this.#meter = meter;
    const offered = toolRegistry.definitions(mode);
    const asText = this.#history?.contentMessages?.(history, offered);
    const messages = sendableMessages(asText ?? history);
    const tools = asText === undefined ? offered : [];
    this.#trace.llmCall(turnState.nextPhaseIndex, messages, tools.length, 'content');
    return adapter
      .sendMessagesStreaming(messages, {
        responseFormat: { type: 'text' },
        verbatim: true,
        signal: meter.signal,
        context: { requestId, projectId },
        ...(tools.length === 0 ? {} : { tools, tool_choice: 'none' as const }),
        ...defined({ temperature: config.temperature, max_tokens: config.maxTokens }),
      })
      [Symbol.asyncIterator]();
  }

  readonly #onStep = (
    step: IteratorResult<LlmEvent>,
  ): IteratorResult<ProtocolEvent, undefined> | Promise<IteratorResult<ProtocolEvent, undefined>> =>
    this.#translate(step) ?? this.#nextShown();

  /**
   * Skips events that are not passed on, in a loop: a model may send 100,000 reasoning events. Failures of these
   * steps are caught here, because the handler beside `#onStep` sees only failures of the step before it.
   */
  async #nextShown(): Promise<IteratorResult<ProtocolEvent, undefined>> {
    try {
      for (;;) {
        const source = this.#source;
        if (source === null) return ENDED;
        const shown = this.#translate(await source.next());
        if (shown !== null) return shown;
      }
    } catch (error) {
      return this.#onFailure(error);
    }
  }

  /** Null for an event that is not passed on. */
  #translate(step: IteratorResult<LlmEvent>): IteratorResult<ProtocolEvent, undefined> | null {
    // The consumer left while this step was pending.
    if (this.#ended) return ENDED;
    if (step.done === true) {
      const cut = this.#meter?.cut ?? null;
      if (cut !== null && !this.#signal.aborted) return this.#endAtLimit(cut);
      return this.#breakOff(NO_TERMINAL_EVENT);
    }
    const event = step.value;
    this.#meter?.count(event);
    const cut = this.#meter?.cut ?? null;
    // Text that has arrived is passed on before the limit ends the stage.
    if (cut !== null && event.type !== 'text-delta' && event.type !== 'finish')
      return this.#endAtLimit(cut);
    switch (event.type) {
      case 'text-delta':
        if (event.text === '') return null;
        this.#textLength += event.text.length;
        return { done: false, value: { type: 'chunk', content: event.text, source: 'model' } };
      case 'usage':
        this.#usage = event.usage;
        return { done: false, value: { type: 'usage', usage: event.usage } };
      case 'tool-call-end':
        this.#calls.push(event.call);
        return null;
      case 'finish':
        // An abort outranks the end of the message: its text is kept, and no file is made of it.
        if (this.#signal.aborted) return this.#end({ kind: 'aborted', appended: [] });
        return this.#end({
          kind: 'message_end',
          finish: event.reason,
          calls: this.#calls,
          appended: [],
        });
      case 'error':
        return this.#breakOff(event.error);
      case 'reasoning-delta':
        if (this.#reasoned || event.text === '') return null;
        this.#reasoned = true;
        return { done: false, value: { type: 'reasoning' } };
      case 'tool-call-start':
      case 'tool-call-delta':
        return null;
    }
  }

  readonly #onFailure = (error: unknown): IteratorResult<ProtocolEvent, undefined> => {
    if (this.#ended) return ENDED;
    const cut = this.#meter?.cut ?? null;
    if (cut !== null) return this.#endAtLimit(cut);
    return this.#breakOff(toErrorInfo(error));
  };

  #breakOff(error: ErrorInfo): IteratorResult<ProtocolEvent, undefined> {
    const isAborted = isAbort(error, this.#signal);
    return this.#end(
      isAborted ? { kind: 'aborted', appended: [] } : { kind: 'error', error, appended: [] },
    );
  }

  #endAtLimit(stop: TurnStop): IteratorResult<ProtocolEvent, undefined> {
    const { turnState } = this.#context;
    turnState.stop ??= stop;
    this.#trace.budgetExhausted(turnState.nextPhaseIndex, stop);
    const error = new OrionError({
      code: 'BUDGET_EXHAUSTED',
      message: `The turn has used up its ${stop.limit} of ${stop.value}.`,
    }).toInfo();
    return this.#end({ kind: 'error', error, appended: [] });
  }

  #end(outcome: ProtocolOutcome): IteratorResult<ProtocolEvent, undefined> {
    this.#ended = true;
    this.#meter?.end();
    const source = this.#source;
    this.#source = null;
    // The last event has arrived, so a failure to close the source no longer matters.
    source?.return?.().then(undefined, () => {});
    const trace = this.#trace;
    const phaseIndex = this.#context.turnState.nextPhaseIndex;
    trace.llmResult(phaseIndex, {
      finish:
        outcome.kind === 'message_end'
          ? outcome.finish
          : outcome.kind === 'aborted'
            ? 'aborted'
            : 'error',
      textLength: this.#textLength,
      calls: this.#calls,
      usage: this.#usage,
    });
    for (const call of this.#calls) trace.toolCall(phaseIndex, call, 'ignored');
    if (outcome.kind === 'error') trace.errorOccurred(phaseIndex, outcome.error);
    return { done: false, value: { type: 'outcome', outcome } };
  }
}
