import type { ErrorInfo } from './errors.ts';
import type { JsonObject } from './json.ts';
import type { Message } from './messages.ts';
import type { ProviderData, ToolCall, ToolDefinition } from './tools.ts';

/** Tokens of one or more model calls; a provider that does not report a number leaves it at 0. */
export type Usage = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  readonly reasoningTokens: number;
};

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'refusal' | 'pause';

/**
 * What an adapter yields while a model answers.
 *
 * Order: deltas and tool calls as they come; a call is `tool-call-start`, any number of `tool-call-delta`, then
 * `tool-call-end` with the whole call. Calls end in the order in which they began: where the wire format leaves no
 * doubt when the next part of the message begins, otherwise with the message. The last event is exactly one `finish` or `error`; `usage` stands before
 * it. Text that arrived together may be one delta: no meaning lies in how text is divided. After `error` the
 * text that came before it is still valid.
 */
export type LlmEvent =
  | { readonly type: 'text-delta'; readonly text: string }
  | { readonly type: 'reasoning-delta'; readonly text: string }
  | {
      readonly type: 'tool-call-start';
      readonly index: number;
      readonly id: string;
      readonly name: string;
    }
  | { readonly type: 'tool-call-delta'; readonly index: number; readonly argumentsDelta: string }
  | { readonly type: 'tool-call-end'; readonly index: number; readonly call: ToolCall }
  | { readonly type: 'usage'; readonly usage: Usage }
  | {
      readonly type: 'finish';
      readonly reason: FinishReason;
      /** What belongs to the message and to none of its calls. */
      readonly providerData?: ProviderData;
    }
  | { readonly type: 'error'; readonly error: ErrorInfo };

export type ResponseFormat =
  | { readonly type: 'text' }
  | {
      readonly type: 'json_schema';
      readonly name: string;
      readonly schema: JsonObject;
      /** Whether the provider is to hold the model to every word of it; true when left out. Optional fields and
       *  fields of any type are more than some providers can hold to. */
      readonly strict?: boolean;
    };

export type SendOptions = {
  /** Sent only when given. */
  readonly temperature?: number;
  /** The limit of output tokens; the adapter's own one when left out. */
  readonly max_tokens?: number;
  readonly tools?: readonly ToolDefinition[];
  readonly tool_choice?: 'auto' | 'none' | 'required';
  readonly responseFormat?: ResponseFormat;
  /** Texts at which the model stops, without writing them. Not every provider has such a thing; at most four are sent. */
  readonly stop?: readonly string[];
  /** Every character that the model wrote as text is passed on as text: no think tags are read in it. */
  readonly verbatim?: boolean;
  readonly signal?: AbortSignal;
  /** Ids for logs and traces; never sent to a provider. */
  readonly context?: { readonly requestId: string; readonly projectId: string };
};

/** What a model can do; null where that is not known. */
export type ModelLimits = {
  /** How many tokens a request and its answer may have together. */
  readonly contextTokens: number | null;
  /** How many tokens one answer may have. */
  readonly outputTokens: number | null;
  /** Whether it goes on with an assistant message that stands last in a request. */
  readonly prefill: boolean;
  /** Whether it is known to take a temperature; what is not known is not asked. */
  readonly temperature?: boolean;
};

/**
 * A provider, seen as a stream of events.
 *
 * `sendMessagesStreaming` never throws for what a provider or the network does: failures, an abort included,
 * arrive as the final `error` event, after the `usage` that is known by then. Returning early from the iteration closes the request.
 */
export interface LlmAdapter {
  readonly name: string;
  readonly model: string;
  /** Of the model; left out by adapters that know nothing of it. */
  readonly limits?: ModelLimits;
  /** Whether the orderly end of a message can be told from a pause; false only for providers without one. */
  readonly signalsMessageEnd: boolean;
  /** Whether `responseFormat: json_schema` is honoured. */
  readonly structuredOutput: boolean;
  /**
   * Whether its models may write their reasoning into the text, between think tags. Left out: a provider of this kind
   * has a place of its own for it.
   */
  readonly writesThinkTags?: boolean;
  sendMessagesStreaming(
    messages: readonly Message[],
    options: SendOptions,
  ): AsyncIterable<LlmEvent>;
}
