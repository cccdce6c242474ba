import { MIN_ANCHOR_INK } from './anchor.ts';
import type { Anchor } from './anchor.ts';
import { contentEndOf } from '../content-end.ts';
import type { ContentSummary } from '../content-summary.ts';
import {
  inkOf,
  isBlankLine,
  parseFenceLine,
  stripIndentation,
  trimLine,
  withoutCarriageReturn,
} from '../lines.ts';
import { extendPreamble, emptyPreamble, isMarkerLine, tagIdOf } from './seam-preamble.ts';

/**
 * Facts about a whole reply that did not repeat the anchor, for the decisions of R039 (c) and (d) and §1.4a rule 9.
 *
 * Invariants
 * R1  The facts depend on the reply alone, not on how it was divided.
 * R2  Memory is bounded; the reply itself is kept only while it is short.
 */
export type ReplyCensus = {
  readonly summary: ContentSummary;
  readonly anchor: Anchor;
  readonly endMarker: string;
  /** The unfinished line; of a long one only the beginning. */
  readonly openLine: string;
  /** The whole text, or null when it is no longer short. */
  readonly text: string | null;
  readonly nonBlankLines: number;
  /** The number of marker lines after the last other line. */
  readonly trailingMarkers: number;
  /** The first lines. */
  readonly head: readonly string[];
};

export type ReplyFacts = {
  /** Without marker lines at the end. */
  readonly nonBlankLines: number;
  /** The reply without its end marker, if it has at most 3 non-blank lines and 64 Ki code units. */
  readonly text: string | null;
  /**
   * Rule 9: it begins without a chat line, fence or tag, and none of its first three lines equals a line of the anchor.
   */
  readonly clean: boolean;
  /**
   * The first 2 to 10 lines, by which a bridge can find this reply: together they do not occur in the content's tail,
   * and the first non-blank one occurs only once among them. Blank lines before it are included, since the whole reply
   * follows the bridge. Empty if there are no such lines, or if the reply does not begin with content.
   */
  readonly headLines: readonly string[];
};

const MAX_SHORT_LINES = 3;
const MAX_SHORT_LENGTH = 65_536;
const MIN_HEAD_LINES = 2;
const MAX_HEAD_LINES = 10;
/** Head lines are quoted in a prompt and repeated by the model, so they must be short. */
const MAX_HEAD_LENGTH = 2_000;
const COMPARED_LINES = 3;

export function createReplyCensus({
  summary,
  anchor,
  endMarker,
}: {
  readonly summary: ContentSummary;
  readonly anchor: Anchor;
  readonly endMarker: string;
}): ReplyCensus {
  return {
    summary,
    anchor,
    endMarker,
    openLine: '',
    text: '',
    nonBlankLines: 0,
    trailingMarkers: 0,
    head: [],
  };
}

export function readReplyCensus(census: ReplyCensus, text: string): ReplyCensus {
  let state = census;
  let from = 0;
  for (;;) {
    const lineEnd = text.indexOf('\n', from);
    if (lineEnd === -1) break;
    state = readLine(state, text.slice(from, lineEnd), true);
    from = lineEnd + 1;
  }
  const rest = text.slice(from);
  const openLine = (state.openLine + rest).slice(0, MAX_SHORT_LENGTH + 1);
  return { ...state, openLine, text: keptText(state, rest) };
}

export function endReplyCensus(census: ReplyCensus): ReplyFacts {
  const whole = census.openLine === '' ? census : readLine(census, '', false);
  const { nonBlankLines, head, text } = whole;
  const isShort = nonBlankLines <= MAX_SHORT_LINES && text !== null;
  const hasPreamble = beginsWithPreamble(whole);
  return {
    nonBlankLines,
    text: isShort ? withoutLastMarkers(text, whole.endMarker) : null,
    clean: nonBlankLines > 0 && !hasPreamble && !repeatsAnchorLine(whole),
    // An unfinished last line may be cut off, so it cannot be searched for.
    headLines: hasPreamble ? [] : headLinesOf(whole, census.openLine === '' ? head : census.head),
  };
}

function readLine(census: ReplyCensus, piece: string, terminated: boolean): ReplyCensus {
  const line = census.openLine + piece;
  const { head, nonBlankLines, trailingMarkers } = census;
  const state: ReplyCensus = {
    ...census,
    openLine: '',
    text: keptText(census, terminated ? `${piece}\n` : piece),
    head: head.length < MAX_HEAD_LINES ? [...head, line] : head,
  };
  if (isBlankLine(line)) return state;
  return isMarkerLine(line, census.endMarker)
    ? { ...state, trailingMarkers: trailingMarkers + 1 }
    : { ...state, nonBlankLines: nonBlankLines + trailingMarkers + 1, trailingMarkers: 0 };
}

function keptText(census: ReplyCensus, added: string): string | null {
  if (census.text === null || census.nonBlankLines > MAX_SHORT_LINES) return null;
  const text = census.text + added;
  return text.length > MAX_SHORT_LENGTH ? null : text;
}

function withoutLastMarkers(text: string, endMarker: string): string {
  const lines = text.split('\n');
  const isMarker = (line: string): boolean => isMarkerLine(line, endMarker);
  const last = lines.findLastIndex((line) => !isBlankLine(line) && !isMarker(line));
  const marker = lines.findIndex((line, index) => index > last && isMarker(line));
  return marker === -1
    ? text
    : lines
        .slice(0, marker)
        .map((line) => `${line}\n`)
        .join('');
}

function beginsWithPreamble({ head, endMarker }: ReplyCensus): boolean {
  const first = head.find((line) => !isBlankLine(line));
  return first !== undefined && extendPreamble(emptyPreamble, first, tagIdOf(endMarker)) !== null;
}

function repeatsAnchorLine({ head, anchor }: ReplyCensus): boolean {
  const lines = anchor.kind === 'lines' ? anchor.lines : anchor.text.split('\n');
  const known = new Set(lines.map(bareLine));
  known.delete('');
  return head
    .filter((line) => !isBlankLine(line))
    .slice(0, COMPARED_LINES)
    .some((line) => known.has(bareLine(line)));
}

function bareLine(line: string): string {
  return stripIndentation(trimLine(line));
}

function headLinesOf(census: ReplyCensus, head: readonly string[]): readonly string[] {
  const end = contentEndOf(census.summary);
  const saved = end.openLine === '' ? end.trimmed : [...end.trimmed, trimLine(end.openLine)];
  const lines = head.map(trimLine);
  const first = lines.find((line) => line !== '');
  let nonBlank = 0;
  let ink = 0;
  let length = 0;
  for (const [index, line] of lines.entries()) {
    if (isMarkerLine(line, census.endMarker) || parseFenceLine(line) !== null) break;
    if (nonBlank > 0 && line === first) break;
    length += line.length + 1;
    if (length > MAX_HEAD_LENGTH) break;
    if (line === '') continue;
    nonBlank += 1;
    ink += inkOf(line);
    if (nonBlank < MIN_HEAD_LINES || ink < MIN_ANCHOR_INK) continue;
    const run = lines.slice(0, index + 1);
    if (!hasRun(saved, run)) return head.slice(0, index + 1).map(withoutCarriageReturn);
  }
  return [];
}

function hasRun(lines: readonly string[], run: readonly string[]): boolean {
  const [first] = run;
  return lines.some(
    (line, start) =>
      line === first && run.every((expected, index) => lines[start + index] === expected),
  );
}
