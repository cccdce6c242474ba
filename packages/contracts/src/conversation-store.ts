import type { Message } from './messages.ts';

export type ConversationSummary = {
  readonly conversationId: string;
  readonly projectId: string;
  /** The first words of the first user message. */
  readonly title: string;
  readonly messages: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** A write session that a crash or a pause left open, if there is one. */
  readonly openSessionId: string | null;
};

export type StoredConversation = ConversationSummary & { readonly history: readonly Message[] };

/**
 * Conversations as a model reads them: messages in order, with receipts in place of written content and without the
 * system prompt, which belongs to a turn.
 */
export interface ConversationStore {
  /**
   * Makes the stored history equal to `history`; what is already stored stays as it is when it is a beginning of it.
   * `openSessionId` names the write session of a turn that is not over.
   */
  save(conversation: {
    readonly conversationId: string;
    readonly projectId: string;
    readonly history: readonly Message[];
    readonly openSessionId: string | null;
  }): Promise<void>;
  load(conversationId: string): Promise<StoredConversation | null>;
  /** Newest first. */
  list(filter: {
    readonly projectId?: string;
    readonly limit: number;
  }): Promise<readonly ConversationSummary[]>;
}
