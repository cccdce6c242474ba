import type { Message } from './messages.ts';

export type ConversationSummary = {
  readonly conversationId: string;
  readonly projectId: string;
  /** The first words of the first user message, or what it was renamed to. */
  readonly title: string;
  readonly messages: number;
  /** Milliseconds since the epoch, by the clock of the store. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The write session that a crash or a pause left open, if any. */
  readonly openSessionId: string | null;
  /** Changes with each save. A save names the revision that it builds on. */
  readonly revision: number;
};

export type StoredConversation = ConversationSummary & {
  readonly history: readonly Message[];
  /** The position of the first message in `history`. Earlier messages were not read. */
  readonly from: number;
};

/**
 * Which messages to read: from a position on, or as many of the last ones as fit into this many bytes, or a page: as
 * many of those before a position as fit, and at least one.
 */
export type ConversationPart =
  | { readonly from: number }
  | { readonly maxBytes: number }
  | { readonly pageBytes: number; readonly before: number };

/** Where a conversation is in a list that is sorted newest first. */
export type ConversationPlace = Pick<
  ConversationSummary,
  'updatedAt' | 'createdAt' | 'conversationId'
>;

/** The owner of a turn, whose writes are stored only while the turn is its own and not over. */
export type TurnFence = { readonly turnId: string; readonly epoch: number };

/**
 * A history from position `from` on. Messages before it, and those already stored, are not written again.
 * `openSessionId` names the write session of a turn that is not over. `revision` is that of the state on which the
 * history builds, 0 for a new conversation.
 */
export type ConversationSave = {
  readonly conversationId: string;
  readonly projectId: string;
  readonly history: readonly Message[];
  readonly from: number;
  readonly openSessionId: string | null;
  readonly revision: number;
  /**
   * Left out where no turn in the log is behind it. `lastSeq` is what its owner knows to be stored of it: a log that has
   * less went back to an earlier state, and the turn will be continued from there.
   */
  readonly fence?: TurnFence & { readonly lastSeq?: number };
};

export type SaveOutcome =
  | { readonly kind: 'saved'; readonly revision: number }
  /** Somebody else has saved it since. Nothing was changed. */
  | { readonly kind: 'stale' }
  /** The turn of the fence belongs to another owner, or is over. Nothing was changed. */
  | { readonly kind: 'fenced' };

/**
 * Conversations as a model reads them: messages in order, with receipts in place of written content and without the
 * system prompt, which belongs to a turn.
 */
export interface ConversationStore {
  /**
   * Replaces the stored history from `from` on. The save is stale if the stored revision is another than the one on
   * which it builds.
   */
  save(conversation: ConversationSave): Promise<SaveOutcome>;
  /** Loads all of it unless a part is requested. */
  load(conversationId: string, part?: ConversationPart): Promise<StoredConversation | null>;
  /**
   * Gives a conversation another title: its first 80 characters, on one line. It is no save, and stays until the first
   * message is saved again. False if there is no such conversation.
   */
  rename(conversationId: string, title: string): Promise<boolean>;
  /** Newest first; those that come after a place. */
  list(filter: {
    readonly projectId?: string;
    readonly after?: ConversationPlace;
    readonly limit: number;
  }): Promise<readonly ConversationSummary[]>;
}
