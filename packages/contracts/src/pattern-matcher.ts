/** Regular expressions that a model or a plan has made, matched where they can hold nothing up. */
export interface PatternMatcher {
  /**
   * Prepares one expression, in JavaScript's syntax. Rejects with INVALID_OPERATION when it does not compile or is
   * too long. `close` must follow.
   */
  open(pattern: string): Promise<PatternSearch>;
}

export interface PatternSearch {
  /**
   * Matches each line by itself. Rejects with MARKER_TIMEOUT when that takes longer than its limit; the search has
   * then ended.
   */
  match(lines: readonly string[]): Promise<PatternMatches>;
  /** Ends it, whatever it is doing. */
  close(): Promise<void>;
}

export type PatternMatches = {
  /** All matches, of which only the first are listed. */
  readonly count: number;
  readonly matches: readonly PatternMatch[];
};

/** `line` is an index into the lines; `start` and `end` count UTF-16 units of that line. */
export type PatternMatch = { readonly line: number; readonly start: number; readonly end: number };
