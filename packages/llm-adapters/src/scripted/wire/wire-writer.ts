/** What a wire format needs to know of a reply. */
export type ReplyFacts = {
  readonly id: string;
  readonly model: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Whether the request asked for usage. Formats that always include it do so anyway. */
  readonly wantsUsage: boolean;
  readonly changingIds: boolean;
  /** Chat completions only: which of the two end marks are sent. */
  readonly endMark: 'both' | 'finish_reason' | 'done';
};

export type ScriptedError = {
  readonly message: string;
  readonly type: string;
  readonly code: string | number | undefined;
};

/**
 * Writes one wire format, event by event. Each method returns the text of its events, including those that open and
 * close what surrounds them.
 */
export type WireWriter = {
  begin(): string;
  text(piece: string): string;
  /** `field`: chat completions only, whose servers disagree on its name. */
  reasoning(piece: string, field: 'reasoning_content' | 'reasoning'): string;
  beginCall(index: number, call: { readonly id: string; readonly name: string }): string;
  callArguments(index: number, piece: string): string;
  /** `afterFinish`: after the finish reason of the message. */
  error(error: ScriptedError, afterFinish: boolean): string;
  /** Ends the message. `reason` is a term of chat completions; others are passed through. */
  end(reason: string): string;
};

export function usageOf(reply: ReplyFacts): object {
  return {
    input_tokens: reply.promptTokens,
    output_tokens: reply.completionTokens,
  };
}
