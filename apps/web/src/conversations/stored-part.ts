import type { ConversationAnswer, ShownMessage } from '@orion/contracts';

/** A turn that began with a message of this page. */
export type SentTurn = {
  readonly turnId: string;
  readonly content: string;
  /** Where the conversation ended, as far as was known, when the message was first sent: its question is behind it. */
  readonly after: number;
  /** An earlier attempt may have begun it: nobody knows what was stored since. */
  readonly isRepeated: boolean;
};
/** A turn that this page found running. Its question is not known. */
export type FoundTurn = {
  readonly turnId: string;
  readonly content: '';
  readonly createdAt: number;
};
export type ShownTurn = SentTurn | FoundTurn;

/** The last messages; null if the conversation is not stored, and undefined while that is not known. */
export type Newest = Pick<ConversationAnswer, 'history' | 'from' | 'updatedAt'> | null | undefined;

/**
 * The turns that are drawn from their events, and where the stored messages end that are drawn above them.
 *
 * 1. No turn and no message is drawn twice: turns store their messages while they run, and those come with every later
 *    answer.
 * 2. The end is found once, by the first answer that shows where these turns begin. It is a position, so that no answer
 *    and no way through the pages changes it.
 */
export type DrawnTurns = {
  readonly turns: readonly ShownTurn[];
  /** A position; null while it is not known, or nothing is drawn from events. */
  readonly end: number | null;
};

export const NO_TURNS: DrawnTurns = { turns: [], end: null };

/** `newest` is as it was before the turn was sent, or when it was found. */
export function withTurn(drawn: DrawnTurns, turn: ShownTurn, newest: Newest): DrawnTurns {
  const { turns, end } = drawn;
  const place = turns.findIndex(({ turnId }) => turnId === turn.turnId);
  if (place !== -1) {
    // That of the first turn is among the stored messages once their end is known.
    const hasQuestion = turns[place]?.content !== '' || (place === 0 && end !== null);
    return hasQuestion ? drawn : { turns: turns.with(place, turn), end };
  }
  // A turn that was found, or sent before, has stored its question already, or is about to.
  const isOlder = 'createdAt' in turn ? turns.length === 0 : turn.isRepeated;
  const isOpen = end !== null || newest === undefined || isOlder;
  return { turns: [...turns, turn], end: isOpen ? end : endOf(newest) };
}

/** The same object unless the answer shows where the turns begin. */
export function withAnswer(drawn: DrawnTurns, newest: Newest): DrawnTurns {
  const [first] = drawn.turns;
  if (drawn.end !== null || first === undefined || newest === undefined || newest === null) {
    return drawn;
  }
  const { history, from, updatedAt } = newest;
  if (!('createdAt' in first)) {
    // Of the conversation too little was known when it was sent, and it draws its question itself.
    const question = history.findLastIndex(
      ({ role, content }, index) =>
        role === 'user' && content === first.content && from + index >= first.after,
    );
    return { ...drawn, end: question === -1 ? endOf(newest) : from + question };
  }
  if (updatedAt < first.createdAt) return drawn;
  // Its events do not have the question.
  return { ...drawn, end: from + history.findLastIndex(({ role }) => role === 'user') + 1 };
}

/** What of an answer is drawn: its last messages before the end, and the position of the first one. */
export function drawnPart(
  { history: all, from }: Pick<ConversationAnswer, 'history' | 'from'>,
  end: number | null,
  most: number,
): { readonly first: number; readonly history: readonly ShownMessage[] } {
  const history = end === null ? all : all.slice(0, Math.max(0, end - from));
  const hidden = Math.max(0, history.length - most);
  return { first: Math.min(from, end ?? from) + hidden, history: history.slice(hidden) };
}

/** Where the conversation ends, as far as is known. */
export function endOf(newest: Newest): number {
  return newest === null || newest === undefined ? 0 : newest.from + newest.history.length;
}
