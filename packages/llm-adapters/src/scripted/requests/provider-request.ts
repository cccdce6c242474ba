/** A request in the words of all wire formats: what the server goes by, whichever format it came in. */
export type ProviderRequest = {
  readonly model: string;
  readonly messages: readonly RequestMessage[];
  /** The names of the offered tools. */
  readonly tools: readonly string[];
  /** `auto`, `none`, `required`; a format's own words for the rest. */
  readonly toolChoice: string;
  readonly maxTokens: number | undefined;
  readonly wantsUsage: boolean;
};

export type RequestMessage = {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  readonly text: string;
};
