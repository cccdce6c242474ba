/** Why bytes are no text. */
export type InvalidTextCode =
  /** U+0000. */
  | 'nul'
  /** A lone surrogate: half of a character. */
  | 'surrogate'
  /** A sequence that its next byte does not complete. */
  | 'truncated'
  /** More bytes than the character needs. */
  | 'overlong'
  /** Beyond U+10FFFF. */
  | 'out_of_range'
  /** A byte that begins nothing. */
  | 'unexpected_byte';

/** One place at which text is not valid. */
export type InvalidPlace = {
  /** Counted from 1 among those that are reported together. */
  readonly index: number;
  /** UTF-16 code units before it, each earlier invalid sequence counted as one. */
  readonly position: number;
  readonly byte_offset: number;
  readonly byte_length: number;
  /** Counted from 1; only LF ends a line. */
  readonly line: number;
  /** UTF-16 code units from the start of its line, counted from 1. */
  readonly column: number;
  readonly code: InvalidTextCode;
  /** At most 20 code units on each side, and the invalid sequence itself; what is invalid is escaped. */
  readonly context: {
    readonly before: string;
    readonly invalid: string;
    readonly after: string;
  };
};

/** What is to stand in place of the bytes from `start` to `end`. */
export type TextCorrection = {
  readonly start: number;
  readonly end: number;
  readonly text: string;
};

/** How the text of a session is mended on its way to the file; the saved content itself never changes. */
export type TextRepair = {
  /** Invalid places at the first validation. */
  readonly found: number;
  /**
   * What each round of questions that has ended gave, none for a reply that could not be used. The offsets of a
   * round are those of the text as the rounds before it left it.
   */
  readonly rounds: readonly (readonly TextCorrection[])[];
  /** What is invalid after the rounds becomes U+FFFD. */
  readonly replace: boolean;
};
