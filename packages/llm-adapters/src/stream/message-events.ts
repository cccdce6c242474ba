import { isHighSurrogate } from '@orion/contracts';
import type { ErrorInfo, FinishReason, JsonValue, LlmEvent, Redact, Usage } from '@orion/contracts';

import { ProviderDataMaker } from '../provider-data.ts';
import type { DataOwner } from '../provider-data.ts';
import { classifyFailure, providerError, readFailure } from '../provider-error.ts';
import { createThinkTags } from '../think-tags.ts';
import { ToolCallMerger } from '../tool-call-merger.ts';
import type { ToolCallDelta } from '../tool-call-merger.ts';

export type MessageOptions = DataOwner & {
  /** Text is text, whatever stands in it. */
  readonly verbatim: boolean;
};

/**
 * The events of one message, whichever wire format they came in.
 *
 * 1. Text that came with one `take` is one delta; nothing is dropped, and no other event overtakes it.
 * 2. Exactly one `finish` or `error`, last; `usage` stands before it. What comes after it is not looked at.
 * 3. A delta never ends between the two halves of a surrogate pair, except at the message's end.
 */
export class MessageEvents {
  #events: LlmEvent[] = [];
  #text = '';
  #reasoning = '';
  #usage: Usage | undefined;
  #textSeen = false;
  #ended = false;
  readonly #verbatim: boolean;
  readonly #redact: Redact;
  readonly #data: ProviderDataMaker;
  readonly #calls: ToolCallMerger;
  readonly #think: ReturnType<typeof createThinkTags> = createThinkTags({
    onText: (text) => this.#addText(text),
    onReasoning: (text) => this.reasoning(text),
  });

  constructor(redact: Redact, options: MessageOptions) {
    this.#verbatim = options.verbatim;
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

  /** Whether the final event has been made. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Whether any text or call of the answer has come. */
  get hasContent(): boolean {
    return this.#textSeen || this.#calls.count > 0;
  }

  get calls(): number {
    return this.#calls.count;
  }

  /** The events that came since the last call. */
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

  /** Text of the answer, or, unless every word is wanted, reasoning between think tags that open it. */
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

  /** A part of the message that is no call has begun, in formats whose parts come one after the other. */
  nextPart(): void {
    if (!this.#ended) this.#calls.nextPart();
  }

  /** The latest one counts. */
  usage(usage: Usage): void {
    this.#usage = usage;
  }

  /**
   * `reason` undefined: the provider gave none, which is an ordinary end. `providerValue` is what it wants back with
   * the message.
   */
  finish(reason: FinishReason | undefined, providerValue?: JsonValue): void {
    if (this.#ended) return;
    this.#think.end();
    this.#flush();
    this.#calls.end(reason === 'length');
    this.#end({
      type: 'finish',
      reason: this.#finishReason(reason),
      ...this.#data.make(providerValue),
    });
  }

  fail(error: ErrorInfo): void {
    if (this.#ended) return;
    this.#think.end();
    this.#flush();
    this.#end({ type: 'error', error });
  }

  /** The provider says within its answer that it failed: an error object, or an object around one. */
  providerFailed(report: unknown): void {
    this.fail(classifyFailure(readFailure(report), this.#redact));
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

  /** Some servers say `stop` after tool calls, and some `tool_calls` without any. */
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
