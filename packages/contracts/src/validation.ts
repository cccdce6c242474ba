/** Why bytes are not valid text. */
export type InvalidTextCode =
  /** U+0000. */
  | 'nul'
  /** A lone surrogate. */
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
  /** The invalid sequence, escaped, with at most 20 code units on each side. */
  readonly context: {
    readonly before: string;
    readonly invalid: string;
    readonly after: string;
  };
};

/** The replacement for the bytes from `start` to `end`. */
export type TextCorrection = {
  readonly start: number;
  readonly end: number;
  readonly text: string;
};

/** How the text of a session is repaired when it is written. The saved content itself never changes. */
export type TextRepair = {
  /** Invalid places at the first validation. */
  readonly found: number;
  /**
   * The corrections of each finished round of questions; none for an unusable reply. Offsets of a round refer to the
   * text after the previous rounds.
   */
  readonly rounds: readonly (readonly TextCorrection[])[];
  /** Places that are still invalid after the rounds become U+FFFD. */
  readonly replace: boolean;
};
