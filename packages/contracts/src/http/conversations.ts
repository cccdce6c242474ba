import type { ConversationSummary } from '../conversation-store.ts';
import type { Message } from '../messages.ts';
import type { ToolCall } from '../tool-call.ts';

/** `GET /api/conversations`: what is asked for, in the query. */
export type ConversationsQuery = {
  readonly projectId?: string;
  readonly limit?: number;
  /** `next` of an earlier answer. */
  readonly before?: string;
};

/** Newest first. `next` asks for those after the last one; null if there are none. */
export type ConversationsAnswer = {
  readonly conversations: readonly ConversationSummary[];
  readonly next: string | null;
};

/** `GET /api/conversations/:id`: the last messages, or those before a position. */
export type ConversationQuery = { readonly before?: number };

/** A message without what is the provider's own. */
export type ShownMessage =
  | Exclude<Message, { readonly role: 'assistant' }>
  | {
      readonly role: 'assistant';
      readonly content: string;
      readonly toolCalls?: readonly Omit<ToolCall, 'providerData'>[];
    };

/** `from` is the position of the first message in `history`; `?before=<from>` reads the earlier ones. */
export type ConversationAnswer = ConversationSummary & {
  readonly history: readonly ShownMessage[];
  readonly from: number;
};
