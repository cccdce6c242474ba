import { isHighSurrogate } from '@orion/contracts';
import type { ErrorInfo, FinishReason, JsonValue, LlmEvent, Redact, Usage } from '@orion/contracts';

import { ProviderDataMaker } from '../provider-data.ts';
import type { DataOwner } from '../provider-data.ts';
import { askedWait, classifyFailure, providerError, readFailure } from '../provider-error.ts';
import { createThinkTags } from '../think-tags.ts';
import { ToolCallMerger } from '../tool-call-merger.ts';
import type { ToolCallDelta } from '../tool-call-merger.ts';

export type MessageOptions = DataOwner & {
  /** Text stays text, whatever it contains. */
  readonly verbatim: boolean;
  /** Of the output tokens, as the request set it. */
  readonly limit?: number | undefined;
};

/**
 * The events of one message in any wire format.
 *
 * 1. The text between two calls of `take` is one delta. Nothing is dropped, and no other event overtakes text.
 * 2. Exactly one `finish` or `error`, last, with `usage` directly before it. Anything after it is ignored.
 * 3. A delta never ends within a surrogate pair, except at the end of the message.
 * 4. A message that used up the limit of its request was cut there, whatever its server says: vLLM reports `tool_calls`
 *    for it, and servers of Responses `completed`. vLLM also completes the arguments of its last call.
 */
export class MessageEvents {
  #events: LlmEvent[] = [];
  #text = '';
  #reasoning = '';
  #usage: Usage | undefined;
  #textSeen = false;
  #ended = false;
  #askedWaitMs: number | undefined;
  readonly #verbatim: boolean;
  readonly #limit: number | undefined;
  readonly #redact: Redact;
  readonly #data: ProviderDataMaker;
  readonly #calls: ToolCallMerger;
  readonly #think: ReturnType<typeof createThinkTags> = createThinkTags({
    onText: (text) => this.#addText(text),
    onReasoning: (text) => this.reasoning(text),
  });

  constructor(redact: Redact, options: MessageOptions) {
    this.#verbatim = options.verbatim;
    this.#limit = options.limit;
    this.#redact = redact;
    this.#data = new ProviderDataMaker(options);
    this.#calls = new ToolCallMerger(
      (event) => {
        this.#flush();
        this.#events.push(event);
      },
      (what) => this.fail(invalidStream('in order', what)),
      this.#data,
    );
  }

  /** Whether the final event has been emitted. */
  get ended(): boolean {
    return this.#ended;
  }

  /** The wait that the provider asked for when it reported a failure. */
  get askedWaitMs(): number | undefined {
    return this.#askedWaitMs;
  }

  /** Whether any text or call of the answer has arrived. */
  get hasContent(): boolean {
    return this.#textSeen || this.#calls.count > 0;
  }

  get calls(): number {
    return this.#calls.count;
  }

  /** The events since the last call. */
  take(): LlmEvent[] {
    let half = '';
    if (isHighSurrogate(this.#text.charCodeAt(this.#text.length - 1))) {
      half = this.#text.slice(-1);
      this.#text = this.#text.slice(0, -1);
    }
    this.#flush();
    this.#text = half;
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** Text of the answer. Unless `verbatim` is set, think tags that open it mark reasoning. */
  text(text: string): void {
    if (this.#ended || text === '') return;
    this.#textSeen = true;
    if (this.#verbatim) this.#addText(text);
    else this.#think.push(text);
  }

  reasoning(text: string): void {
    if (this.#ended) return;
    if (this.#text !== '') this.#flush();
    this.#reasoning += text;
  }

  toolCall(delta: ToolCallDelta): void {
    if (!this.#ended) this.#calls.push(delta);
  }

  /** A part of the message other than a call has begun. For formats whose parts follow one another. */
  nextPart(): void {
    if (!this.#ended) this.#calls.nextPart();
  }

  /** Replaces earlier usage. */
  usage(usage: Usage): void {
    this.#usage = usage;
  }

  /**
   * `reason` undefined: the provider gave none, which means an ordinary end. `providerValue` is returned to the
   * provider with the message.
   */
  finish(reason: FinishReason | undefined, providerValue?: JsonValue): void {
    if (this.#ended) return;
    this.#think.end();
    this.#flush();
    const whole = reason === undefined || reason === 'stop' || reason === 'tool_calls';
    const wasCut = whole && this.#usedUpLimit();
    this.#calls.end(wasCut || reason === 'length', wasCut);
    this.#end({
      type: 'finish',
      reason: wasCut ? 'length' : this.#finishReason(reason),
      ...this.#data.make(providerValue),
    });
  }

  fail(error: ErrorInfo): void {
    if (this.#ended) return;
    this.#think.end();
    this.#flush();
    this.#end({ type: 'error', error });
  }

  /** The provider reports a failure within its answer: an error object, or an object that contains one. */
  providerFailed(report: unknown): void {
    const failure = readFailure(report);
    if (!this.#ended) this.#askedWaitMs = askedWait(failure);
    this.fail(classifyFailure(failure, this.#redact));
  }

  #addText(text: string): void {
    if (this.#reasoning !== '') this.#flush();
    this.#text += text;
  }

  #end(final: LlmEvent): void {
    if (this.#usage !== undefined) this.#events.push({ type: 'usage', usage: this.#usage });
    this.#events.push(final);
    this.#ended = true;
  }

  /**
   * Whether the tokens are exactly as many as the limit; for some servers, those of reasoning do not count. Where there
   * are more, the server does not keep to the limit.
   */
  #usedUpLimit(): boolean {
    if (this.#limit === undefined || this.#usage === undefined) return false;
    const { outputTokens, reasoningTokens } = this.#usage;
    return outputTokens === this.#limit || outputTokens - reasoningTokens === this.#limit;
  }

  /** Some servers send `stop` after tool calls, others `tool_calls` without any. */
  #finishReason(reason: FinishReason | undefined): FinishReason {
    if (reason === 'length' || reason === 'refusal' || reason === 'pause') return reason;
    return this.#calls.count > 0 ? 'tool_calls' : 'stop';
  }

  #flush(): void {
    if (this.#reasoning !== '') {
      this.#events.push({ type: 'reasoning-delta', text: this.#reasoning });
      this.#reasoning = '';
    }
    if (this.#text !== '') {
      this.#events.push({ type: 'text-delta', text: this.#text });
      this.#text = '';
    }
  }
}

export function truncated(): ErrorInfo {
  const message = 'The provider ended the stream without its end mark';
  return providerError('STREAM_TRUNCATED', message, true);
}

/** `format`: what the stream should have been. */
export function invalidStream(format: string, what: string): ErrorInfo {
  return providerError('STREAM_INVALID', `The stream is not ${format}: ${what}`, false);
}
