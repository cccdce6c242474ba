import type { ProviderData, ToolCall } from './tool-call.ts';

/**
 * The history that a model reads, in chronological order. A tool message answers a call of the preceding assistant
 * message, by id. Adapters translate it for providers without such a form.
 */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

export type SystemMessage = { readonly role: 'system'; readonly content: string };

export type UserMessage = { readonly role: 'user'; readonly content: string };

export type AssistantMessage = {
  readonly role: 'assistant';
  readonly content: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly providerData?: ProviderData;
};

export type ToolMessage = {
  readonly role: 'tool';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly content: string;
};
