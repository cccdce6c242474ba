import type { FenceLine } from './lines.ts';

/**
 * What is known of the content saved so far, without holding it: enough to choose an anchor, to recognise a
 * restart, and to decide about fences at the end. Grows by `appendToSummary` only; a recovery rebuilds it by
 * feeding the content file through the same function. Independent of how the text is divided.
 */
export type ContentSummary = {
  /** UTF-8 bytes (WTF-8 for lone surrogates). A high surrogate at the end counts its three bytes until its pair comes. */
  readonly bytes: number;
  /** LF count: the number of whole lines. */
  readonly lineFeeds: number;
  /** How many of them follow a CR. */
  readonly carriageReturnLineFeeds: number;
  readonly hasNonBlankLine: boolean;
  /** The text after the last LF; of a very long line the last `OPEN_LINE_WINDOW` code units. */
  readonly openLine: string;
  /** The whole length of that line in code units. */
  readonly openLineLength: number;
  /** The end of the content: all of it, or at least its last `TAIL_WINDOW` code units (at most twice as many). */
  readonly tail: string;
  /** Whether `tail` is all of it. */
  readonly tailIsWhole: boolean;
  readonly fences: FenceLedger;
  readonly prefix: PrefixLedger;
};

/** 128 Ki code units: the part of the content in which an anchor must be unique. */
export const TAIL_WINDOW = 131_072;
export const OPEN_LINE_WINDOW = 4_096;

/** Where fence lines stand; positions are byte offsets into the content. */
export type FenceLedger = {
  /** The first non-blank lines, at most 3, each cut to 400 characters. */
  readonly firstLines: readonly LineMark[];
  /** The last non-blank lines that are complete, at most 5, oldest first. */
  readonly lastLines: readonly LineMark[];
  /** The first fence lines, at most 4. */
  readonly firstFences: readonly FenceMark[];
  readonly lastFence: FenceMark | null;
  readonly fenceCount: number;
  /** The fences that are open after the last complete line, outermost first, at most 8 deep. */
  readonly open: readonly FenceMark[];
};

export type LineMark = {
  /** Counted from 1. */
  readonly line: number;
  readonly start: number;
  /** After its LF. */
  readonly end: number;
  readonly text: string;
  readonly fence: FenceLine | null;
};

export type FenceMark = LineMark & { readonly fence: FenceLine };

/**
 * Recognises a reply that starts the file again: the first lines as text, and beyond them a hash of all lines up
 * to every 64th.
 */
export type PrefixLedger = {
  /** The first whole lines, until 16 Ki code units. */
  readonly head: string;
  /** `checkpoints[i]` is the hash of the first `(i + 1) * CHECKPOINT_LINES` lines, each trimmed. */
  readonly checkpoints: readonly string[];
  /** Hash state after the last whole line. */
  readonly current: PrefixHash;
};

/** Two independent 32-bit hashes over trimmed lines and their ends. */
export type PrefixHash = {
  readonly lines: number;
  readonly first: number;
  readonly second: number;
};

export const CHECKPOINT_LINES = 64;
