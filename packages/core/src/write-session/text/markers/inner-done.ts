import type { EndCandidate } from '@orion/contracts';

/** What is known of the bare DONE lines that are content: of one message, or of a whole file. */
export type InnerDone = {
  /** Counted from 1; at most `INNER_DONE_LIMIT`. */
  readonly lines: readonly number[];
  /** The last of them that a chat line follows, at most two, the last first. */
  readonly chatEnds: readonly EndCandidate[];
};

/** What follows a DONE line that the message's own DONE repeats (R273). */
export const DONE_ONCE_MORE = 'DONE once more';

/** A question names so many ends. */
const MAX_ENDS = 2;

/** Both with the last first, and without those that both name. */
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
