import { isBlankOrLineFeed, isHighSurrogate, isLowSurrogate } from '@orion/contracts';
import { contentEndOf, repeatedRun } from '../content-end.ts';
import type { ContentEnd } from '../content-end.ts';
import type { ContentSummary } from '../content-summary.ts';
import { inkOf, isBlankLine } from '../lines.ts';
import { periodOf } from './line-period.ts';

/**
 * Chooses the text that the model must repeat before it continues (R047, §1.4a rules 2 and 3).
 *
 * Invariants
 * A1  The saved content ends with `lines`, then `openLine`, apart from blank lines at its end and a trailing CR.
 * A2  An anchor that is not marked `repetitive` occurs once in the last `TAIL_WINDOW` code units.
 * A3  `lines` begins and ends with a non-blank line: blank lines between it and the open line are not part of it.
 * A4  The model is asked to repeat `lines` and then to write the next line in full, that is, the open line from its
 *     beginning; so a prompt quotes and counts `lines` alone. Only if there is no whole line, or if the prompt asks
 *     whether the file is complete (R274), it quotes the open line, too, and the model continues in it.
 */
export type Anchor = LineAnchor | CharacterAnchor;

export type LineAnchor = {
  readonly kind: 'lines';
  /** Whole lines, unchanged but without their LF. */
  readonly lines: readonly string[];
  /** The number of blank lines between `lines` and the open line, or the content's end. */
  readonly blankLinesBehind: number;
  /** The open last line without a trailing CR; empty if the content ends with a line ending. */
  readonly openLine: string;
  readonly repetitive: boolean;
  /** Whether it begins at the content's first non-blank line. */
  readonly whole: boolean;
};

export type CharacterAnchor = {
  readonly kind: 'characters';
  /** The last characters, up to the end of the last non-blank line. */
  readonly text: string;
  readonly repetitive: boolean;
  /** Whether that line is open: then the model continues on it. */
  readonly inOpenLine: boolean;
};

export const MAX_ANCHOR_LINES = 24;
export const MAX_ANCHOR_LENGTH = 2_000;
export const MIN_ANCHOR_INK = 24;
const MIN_ANCHOR_LINES = 2;
const MIN_REPETITIVE_LINES = 8;
const MIN_REPETITIVE_INK = 48;
const MAX_OPEN_LINE = 400;
const MIN_CHARACTERS = 120;
const MAX_CHARACTERS = 960;
/** How much further back an anchor of characters may begin in order to begin with a word. */
const WORD_REACH = 40;

/**
 * The lines of the anchor including the open line. If only blank lines precede the open line, they need not be
 * repeated, as at the end of a file.
 */
export function wholeLines({ lines, blankLinesBehind, openLine }: LineAnchor): readonly string[] {
  if (lines.length === 0) return [openLine];
  const blankLines = Math.min(blankLinesBehind, MAX_ANCHOR_LINES);
  return [...lines, ...Array.from({ length: blankLines }, () => ''), openLine];
}

/** The content must have a non-blank line. */
export function chooseAnchor(summary: ContentSummary): Anchor {
  return anchorOf(contentEndOf(summary));
}

export function anchorOf(end: ContentEnd): Anchor {
  if (end.openLine.length > MAX_OPEN_LINE || !end.openLineIsWhole) return characterAnchor(end);
  return lineAnchor(end) ?? characterAnchor(end);
}

function lineAnchor(end: ContentEnd): LineAnchor | null {
  const count = end.lines.length;
  const firstLine = end.firstLine;
  if (count === 0) return firstLine === null ? null : anchorFrom(end, 0, false);

  const repeated = repeatedRun(end);
  let length = 0;
  let ink = 0;
  let nonBlank = 0;
  let unique: number | null = null;
  let longest: { readonly start: number; readonly ink: number } | null = null;
  for (let taken = 1; taken <= Math.min(count, MAX_ANCHOR_LINES); taken += 1) {
    const start = count - taken;
    const line = end.lines[start] ?? '';
    length += line.length + 1;
    if (length > MAX_ANCHOR_LENGTH) break;
    if (isBlankLine(line)) continue;
    ink += inkOf(line);
    nonBlank += 1;
    if (nonBlank >= MIN_ANCHOR_LINES && ink >= MIN_ANCHOR_INK && taken > repeated) {
      unique ??= start;
      // A run of equal lines may be unique by its length alone; a reply that continues the run would look the same.
      if (periodOf(end.trimmed.slice(start)).length === 0) return anchorFrom(end, start, false);
    }
    if (start === firstLine) return anchorFrom(end, unique ?? start, false);
    longest = { start, ink };
  }
  if (unique !== null) return anchorFrom(end, unique, false);
  if (
    longest === null ||
    count - longest.start < MIN_REPETITIVE_LINES ||
    longest.ink < MIN_REPETITIVE_INK
  )
    return null;
  return anchorFrom(end, longest.start, true);
}

function anchorFrom(end: ContentEnd, start: number, repetitive: boolean): LineAnchor {
  return {
    kind: 'lines',
    lines: end.lines.slice(start),
    blankLinesBehind: end.blankLinesBehind,
    openLine: end.openLine,
    repetitive,
    whole: end.firstLine !== null && start <= end.firstLine,
  };
}

function characterAnchor(end: ContentEnd): CharacterAnchor {
  const { text } = end;
  const most = Math.min(MAX_CHARACTERS, text.length);
  // Both conditions stay true for longer texts, so that a binary search finds the shortest.
  let low = Math.min(MIN_CHARACTERS, most);
  let high = most;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (suffices(text, text.length - middle)) high = middle;
    else low = middle + 1;
  }
  const start = wordStart(text, text.length - high, text.length - most);
  const isAll = end.firstLine !== null && text.slice(0, start).trim() === '';
  return {
    kind: 'characters',
    text: text.slice(start),
    repetitive: !isAll && !suffices(text, start),
    inOpenLine: end.openLine !== '',
  };
}

function suffices(text: string, start: number): boolean {
  const candidate = text.slice(start);
  return inkOf(candidate) >= MIN_ANCHOR_INK && text.indexOf(candidate) === start;
}

/** An offset at or before `start`, never at a blank or within a word: models lose leading blanks and half words. */
function wordStart(text: string, start: number, earliest: number): number {
  let begin = start;
  while (begin > earliest && isSpaceAt(text, begin)) begin -= 1;
  if (isSpaceAt(text, begin)) {
    while (begin < text.length && isSpaceAt(text, begin)) begin += 1;
    return begin;
  }
  const stop = Math.max(earliest, begin - WORD_REACH);
  for (let index = begin; index >= stop; index -= 1) {
    if (index === 0 || isSpaceAt(text, index - 1)) return index;
  }
  return characterStart(text, begin);
}

function isSpaceAt(text: string, index: number): boolean {
  return isBlankOrLineFeed(text.charCodeAt(index));
}

/** Not between the halves of a surrogate pair. */
function characterStart(text: string, start: number): number {
  const dividesPair =
    isLowSurrogate(text.charCodeAt(start)) && isHighSurrogate(text.charCodeAt(start - 1));
  return dividesPair ? start - 1 : start;
}
