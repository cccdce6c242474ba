import type { ConversationSave, Message, StoredConversation } from '@orion/contracts';

/**
 * A conversation as this process continues it.
 *
 * T1. What its turns build on (`base`) and what precedes them in the store (`front`) may differ: another process
 *     may have put its turn in between, and a stored system message is not shown to a model.
 * T2. What is stored of the own turns is known by its text, since the answer to a save may be lost: so it is found
 *     again behind the turns of others, and is never stored twice.
 */
export type ConversationThread = {
  /** Under which it is stored; another one than its turns know once it has become a new conversation. */
  conversationId: string;
  /** What the turns of this process take for the beginning. */
  base: readonly Message[];
  /** Null when it could not be read. */
  stored: StoredFront | null;
  /** The save that was acknowledged last, and those after it whose outcome is unknown. */
  written: readonly WrittenHistory[];
  /** What the last save left in the store, from position `start` on; left out before the first. */
  saved?: {
    readonly revision: number;
    readonly start: number;
    readonly history: readonly Message[];
    readonly openSessionId: string | null;
  };
};

/** What the store had before the own turns when it was last asked. */
export type StoredFront = {
  readonly revision: number;
  /** The position of the first message of `front`; those before it stay as they are. */
  readonly from: number;
  readonly front: readonly Message[];
};

export type WrittenHistory = {
  readonly history: readonly Message[];
  /** The turns of this process in it; null where older messages were changed, too. */
  readonly own: readonly Message[] | null;
};

export const NOT_STORED: StoredFront = { revision: 0, from: 0, front: [] };

export function newThread(
  conversationId: string,
  stored: StoredFront | null,
  base: readonly Message[] = [],
): ConversationThread {
  return { conversationId, base, stored, written: [] };
}

/** What to store, so that the conversation continues like `history`. */
export function toWrite(
  { base }: ConversationThread,
  { front }: StoredFront,
  history: readonly Message[],
): WrittenHistory {
  if (!startsWith(history, base)) return { history, own: null };
  const own = history.slice(base.length);
  return { history: [...front, ...own], own };
}

/**
 * Where the own turns go after somebody else saved the conversation: behind what is there, without what was stored of
 * them before. Null when there is no such place, since older messages were changed.
 */
export function behind(
  { written }: ConversationThread,
  { own }: WrittenHistory,
  found: StoredConversation,
): StoredFront | null {
  const { revision, from, history } = found;
  const mine = written.findLast((each) => isSame(each.history, history));
  if (own === null) return mine === undefined ? null : { revision, from, front: [] };
  const stored = written.flatMap((each) => (each.own === null ? [] : [each.own]));
  for (const part of stored.toReversed()) {
    const start = lastIndexOf(history, part);
    if (start !== -1) {
      const front = history.toSpliced(start, part.length);
      return { revision, from, front };
    }
  }
  return { revision, from, front: history };
}

/** How many messages of what is to be written the last save has stored, if nobody else has saved since. */
export function storedBefore(
  { saved }: ConversationThread,
  { revision, from }: StoredFront,
  { history }: WrittenHistory,
): number {
  if (saved?.revision !== revision || saved.start !== from) return 0;
  const different = saved.history.findIndex((message, index) => !isEqual(message, history[index]));
  return different === -1 ? saved.history.length : different;
}

/** Whether a save would change nothing. */
export function isStored(
  { saved }: ConversationThread,
  { history, from, openSessionId, revision }: ConversationSave,
): boolean {
  return (
    saved?.revision === revision &&
    saved.openSessionId === openSessionId &&
    saved.start + saved.history.length === from &&
    history.length === 0
  );
}

export function startsWith(history: readonly Message[], start: readonly Message[]): boolean {
  return start.every((message, index) => isEqual(message, history[index]));
}

function isSame(one: readonly Message[], other: readonly Message[]): boolean {
  return one.length === other.length && startsWith(one, other);
}

/** Messages are stored as JSON, and that is what they are equal in. */
function isEqual(one: Message, other: Message | undefined): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/** The last position of `part`, whole, in `history`; -1 if it is empty or not there. */
function lastIndexOf(history: readonly Message[], part: readonly Message[]): number {
  if (part.length === 0) return -1;
  for (let start = history.length - part.length; start >= 0; start -= 1) {
    if (part.every((message, index) => isEqual(message, history[start + index]))) return start;
  }
  return -1;
}
