import type { EndCandidate } from '@orion/contracts';

/** The bare DONE lines that are content: of one message, or of a whole file. */
export type InnerDone = {
  /** Counted from 1; at most `INNER_DONE_LIMIT`. */
  readonly lines: readonly number[];
  /** The last of them with a chat line after it, at most two, the last first. */
  readonly chatEnds: readonly EndCandidate[];
};

/** What follows a DONE line if the message itself ends with DONE again (R273). */
export const DONE_ONCE_MORE = 'DONE once more';

/** How many ends a question names. */
const MAX_ENDS = 2;

/** Merges both lists, the last end first, without duplicates. */
export function mergedEnds(
  left: readonly EndCandidate[],
  right: readonly EndCandidate[],
): readonly EndCandidate[] {
  const byLine = new Map([...right, ...left].map((candidate) => [candidate.line, candidate]));
  return [...byLine.values()].sort((one, other) => other.line - one.line).slice(0, MAX_ENDS);
}

export function mergedLines(left: readonly number[], right: readonly number[]): readonly number[] {
  if (right.length === 0) return left;
  return [...new Set([...left, ...right])].sort((one, other) => one - other);
}
