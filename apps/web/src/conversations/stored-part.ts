import type { ConversationAnswer, ShownMessage } from '@orion/contracts';

import type { SentTurn } from './composer.tsx';

/** `createdAt` is that of a turn which this page found running. */
export type ShownTurn = SentTurn & { readonly createdAt?: number };

/** The last messages; null if the conversation is not stored, and undefined while that is not known. */
export type Newest = Pick<ConversationAnswer, 'history' | 'from' | 'updatedAt'> | null | undefined;

/**
 * The turns that are drawn from their events, and where the stored messages end that are drawn above them.
 *
 * 1. No message is drawn twice: turns store theirs while they run, and those come with every later answer.
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
  // A turn that was found has stored its question already, or is about to.
  const isFoundFirst = turns.length === 0 && turn.createdAt !== undefined;
  if (end !== null || newest === undefined || isFoundFirst) {
    return { turns: [...turns, turn], end };
  }
  return { turns: [...turns, turn], end: newest === null ? 0 : endOf(newest) };
}

/** The same object unless the answer shows where the turns begin. */
export function withAnswer(drawn: DrawnTurns, newest: Newest): DrawnTurns {
  const [first] = drawn.turns;
  if (drawn.end !== null || first === undefined || newest === undefined || newest === null) {
    return drawn;
  }
  const { history, from, updatedAt } = newest;
  if (first.createdAt === undefined) {
    // It was sent before anything of the conversation was known, and draws its question itself.
    const question = history.findLastIndex(
      ({ role, content }) => role === 'user' && content === first.content,
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

function endOf({ from, history }: Exclude<Newest, null | undefined>): number {
  return from + history.length;
}
