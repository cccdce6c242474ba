/** Matches regular expressions from models and plans where they cannot block anything. */
export interface PatternMatcher {
  /**
   * Prepares one expression, in JavaScript's syntax. Rejects with INVALID_OPERATION when it does not compile or is
   * too long. `close` must follow.
   */
  open(pattern: string): Promise<PatternSearch>;
}

export interface PatternSearch {
  /** Matches each line separately. Rejects with MARKER_TIMEOUT if that exceeds the time limit, and ends the search. */
  match(lines: readonly string[]): Promise<PatternMatches>;
  /** Ends the search, even while it is matching. */
  close(): Promise<void>;
}

export type PatternMatches = {
  /** All matches, of which only the first are listed. */
  readonly count: number;
  readonly matches: readonly PatternMatch[];
};

/** `line` is an index into the lines; `start` and `end` count UTF-16 units of that line. */
export type PatternMatch = { readonly line: number; readonly start: number; readonly end: number };
