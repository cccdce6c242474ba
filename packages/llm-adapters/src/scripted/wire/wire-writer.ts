/** What a reply is, as far as a wire format needs to know. */
export type ReplyFacts = {
  readonly id: string;
  readonly model: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Whether the request asked for usage; formats that always tell it do so anyway. */
  readonly wantsUsage: boolean;
  readonly changingIds: boolean;
  /** Chat completions only: which of its two end marks are sent. */
  readonly endMark: 'both' | 'finish_reason' | 'done';
};

export type ScriptedError = {
  readonly message: string;
  readonly type: string;
  readonly code: string | number | undefined;
};

/**
 * One wire format, written event by event. Each method gives the text of the events that say it; what has to be
 * opened before and closed after it is the writer's business.
 */
export type WireWriter = {
  begin(): string;
  text(piece: string): string;
  /** `field`: chat completions only, where servers do not agree on its name. */
  reasoning(piece: string, field: 'reasoning_content' | 'reasoning'): string;
  beginCall(index: number, call: { readonly id: string; readonly name: string }): string;
  callArguments(index: number, piece: string): string;
  /** `afterFinish`: only after the message has said why it ends. */
  error(error: ScriptedError, afterFinish: boolean): string;
  /** The message's end. `reason` in the words of chat completions; others go through as they are. */
  end(reason: string): string;
};

export function usageOf(reply: ReplyFacts): object {
  return {
    input_tokens: reply.promptTokens,
    output_tokens: reply.completionTokens,
  };
}
