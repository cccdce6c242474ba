import type { ErrorInfo } from './errors.ts';
import type { JsonObject } from './json.ts';
import type { Message } from './messages.ts';
import type { KeptArgument, ProviderData, ToolCall } from './tool-call.ts';
import type { ToolDefinition } from './tools.ts';

/** Tokens of one or more model calls. Numbers that a provider does not report are 0. */
export type Usage = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  readonly reasoningTokens: number;
  /** In US dollars. Only of a provider that reports it. */
  readonly cost?: number;
};

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'refusal' | 'pause';

/**
 * The events that an adapter yields while a model answers.
 *
 * Order: deltas and tool calls as they arrive. A call is `tool-call-start`, any number of `tool-call-delta`, then
 * `tool-call-end` with the whole call. Calls end in the order in which they began: when the next part of the message
 * begins, if the wire format makes that clear, otherwise with the message. The last event is exactly one `finish` or
 * `error`, and `usage` comes before it. How text is divided into deltas has no meaning. Text before an `error` is
 * still valid.
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
      /** Data of the message as a whole, not of one of its calls. */
      readonly providerData?: ProviderData;
      /** Of a message whose text is an action: where text in it was saved that looks like the content of a file. */
      readonly kept?: readonly KeptArgument[];
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
  /** The limit of output tokens. Defaults to the adapter's own limit. */
  readonly max_tokens?: number;
  readonly tools?: readonly ToolDefinition[];
  readonly tool_choice?: 'auto' | 'none' | 'required';
  readonly responseFormat?: ResponseFormat;
  /** Texts at which the model stops without writing them. Not every provider supports this; at most four are sent. */
  readonly stop?: readonly string[];
  /** Passes on every character of the model's text, without interpreting think tags. */
  readonly verbatim?: boolean;
  readonly signal?: AbortSignal;
  /**
   * Around each wait before the request is repeated, for a caller that does not count its time. Resolves when the given
   * wait does, which `signal` ends early.
   */
  readonly wait?: (wait: () => Promise<void>) => Promise<void>;
  /** Ids for logs and traces; never sent to a provider. */
  readonly context?: { readonly requestId: string; readonly projectId: string };
};

/** The capabilities of a model; null where unknown. */
export type ModelLimits = {
  /** The most tokens of a request and its answer together. */
  readonly contextTokens: number | null;
  /** The most tokens of one answer. */
  readonly outputTokens: number | null;
  /** Whether it continues an assistant message at the end of a request. */
  readonly prefill: boolean;
  /** Whether it is known to accept a temperature. If unknown, none is sent. */
  readonly temperature?: boolean;
};

/**
 * A provider as a stream of events.
 *
 * `sendMessagesStreaming` never throws because of the provider or the network: failures, including an abort, arrive
 * as the final `error` event, after the `usage` known so far. Returning early from the iteration closes the request.
 */
export interface LlmAdapter {
  readonly name: string;
  readonly model: string;
  /** Limits of the model. Left out if the adapter does not know them. */
  readonly limits?: ModelLimits;
  /** Whether the end of a message is distinguishable from a pause. False only for providers without an end signal. */
  readonly signalsMessageEnd: boolean;
  /** Whether `responseFormat: json_schema` is honoured. */
  readonly structuredOutput: boolean;
  /**
   * Whether its models may write reasoning into the text, between think tags. Left out if the provider sends
   * reasoning separately.
   */
  readonly writesThinkTags?: boolean;
  sendMessagesStreaming(
    messages: readonly Message[],
    options: SendOptions,
  ): AsyncIterable<LlmEvent>;
}
