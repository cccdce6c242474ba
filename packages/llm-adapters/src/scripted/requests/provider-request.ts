/** A request of any wire format, in common terms. */
export type ProviderRequest = {
  readonly model: string;
  readonly messages: readonly RequestMessage[];
  /** The names of the offered tools. */
  readonly tools: readonly string[];
  /** `auto`, `none` or `required`; otherwise a term of the format. */
  readonly toolChoice: string;
  readonly maxTokens: number | undefined;
  readonly wantsUsage: boolean;
};

export type RequestMessage = {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  readonly text: string;
};
