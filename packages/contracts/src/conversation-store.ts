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
  /** Another one after each save; what a save that builds on this state names. */
  readonly revision: number;
};

export type StoredConversation = ConversationSummary & {
  readonly history: readonly Message[];
  /** The position of the first message in `history`; those before it were not read. */
  readonly from: number;
};

/** Which messages are read: those from a position on, or the last ones, as many as fit into so many bytes. */
export type ConversationPart = { readonly from: number } | { readonly maxBytes: number };

export type SaveOutcome =
  | { readonly kind: 'saved'; readonly revision: number }
  /** Somebody else saved it since; nothing was changed. */
  | { readonly kind: 'stale' };

/**
 * Conversations as a model reads them: messages in order, with receipts in place of written content and without the
 * system prompt, which belongs to a turn.
 */
export interface ConversationStore {
  /**
   * Makes the stored history from the position `from` on equal to `history`; what stands before it, and what is
   * already stored of it, stays as it is.
   * `openSessionId` names the write session of a turn that is not over. `revision` is that of the state on which the
   * history builds, 0 for a conversation that was not stored yet: a save of another state than the stored one is stale.
   */
  save(conversation: {
    readonly conversationId: string;
    readonly projectId: string;
    readonly history: readonly Message[];
    readonly from: number;
    readonly openSessionId: string | null;
    readonly revision: number;
  }): Promise<SaveOutcome>;
  /** All of it, unless a part is asked for. */
  load(conversationId: string, part?: ConversationPart): Promise<StoredConversation | null>;
  /** Newest first. */
  list(filter: {
    readonly projectId?: string;
    readonly limit: number;
  }): Promise<readonly ConversationSummary[]>;
}
