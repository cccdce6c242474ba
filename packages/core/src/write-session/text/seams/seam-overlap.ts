import type { LineEnding } from '@orion/contracts';
import { MIN_ANCHOR_INK, wholeLines } from './anchor.ts';
import type { Anchor } from './anchor.ts';
import { contentEndOf, repeatedRun } from '../content-end.ts';
import type { ContentEnd } from '../content-end.ts';
import {
  CHECKPOINT_LINES,
  emptyPrefixHash,
  eolOf,
  extendPrefixHash,
  prefixHashKey,
} from '../content-summary.ts';
import type { ContentSummary, PrefixHash } from '../content-summary.ts';
import {
  buildLineAutomaton,
  mayContinue,
  nextState,
  reachesEnd,
  START_STATE,
} from './line-automaton.ts';
import type { LineAutomaton } from './line-automaton.ts';
import { inkOf, isBlankLine, stripIndentation, trimLine } from '../lines.ts';
import type { Preamble } from './seam-preamble.ts';
import { periodOf, runPeriodOf } from './line-period.ts';

/**
 * Finds the part of the saved content that a reply repeats, line by line (R047, §1.4a rules 4 and 5).
 *
 * Invariants
 * O1  All places of the content at which the repetition can begin are followed in parallel; none is chosen before the
 *     others have failed (rule 11).
 * O2  A line costs constant time, and nothing of the reply is kept.
 * O3  An overlap is complete only if it has reached the content's last non-blank whole line and rule 5 admits it.
 */
export type Overlap = {
  readonly preamble: Preamble;
  /** A repetition within the tail, from the start of a line. */
  readonly inTail: number | null;
  /** The number of matched lines of the anchor, compared by itself: its first line may be shortened. */
  readonly inAnchor: number | null;
  /** A repetition from the first line of content that is longer than the tail. */
  readonly restart: Restart | null;
  readonly lines: number;
  readonly ink: number;
  readonly lineFeeds: number;
  readonly carriageReturnLineFeeds: number;
};

export type Via = 'anchor' | 'restart' | 'tail';

/** `offset`: how much of the ledger's head was compared; null after its end. */
type Restart = { readonly offset: number | null; readonly hash: PrefixHash };

/** What a reply is compared with; constant for one message. */
export type SeamGround = {
  readonly end: ContentEnd;
  readonly anchor: Anchor;
  readonly eol: LineEnding;
  readonly automaton: LineAutomaton;
  /** Runs of last lines up to this length also occur elsewhere. */
  readonly repeated: number;
  readonly openLineInk: number;
  /** The anchor's whole lines up to the last non-blank one, trimmed; the first may be only the end of a line. */
  readonly anchorLines: readonly string[];
  /** The whole anchor as lines, including the open line: a second quotation would look like this. */
  readonly quotation: readonly string[];
  /** Texts with which a reply may begin within the open line. */
  readonly openings: readonly Opening[];
  readonly restart: RestartGround | null;
  /** The lines that come next if the run of equal lines at the content's end continues; empty without such a run. */
  readonly runPeriod: readonly string[];
  /** Lines that are long enough to be compared before they end. */
  readonly longLines: readonly string[];
};

type Opening = { readonly text: string; readonly via: 'anchor' | 'tail' };

type RestartGround = {
  readonly head: string;
  readonly start: Restart;
  readonly checkpoints: readonly string[];
  /** The number of lines up to the last non-blank one, and of blank lines after it. */
  readonly lines: number;
  readonly blankLinesBehind: number;
  readonly key: string;
};

/** An unfinished line of at least this length is compared. */
export const LONG_LINE = 512;

export function seamGroundOf(summary: ContentSummary, anchor: Anchor): SeamGround {
  const end = contentEndOf(summary);
  return {
    end,
    anchor,
    eol: eolOf(summary),
    automaton: buildLineAutomaton(end.trimmed),
    repeated: repeatedRun(end),
    openLineInk: inkOf(end.openLine),
    anchorLines: wholeLinesOf(anchor),
    quotation: quotationOf(anchor),
    openings: openingsOf(end, anchor),
    restart: restartGroundOf(summary, end),
    runPeriod: runPeriodOf(end.trimmed),
    longLines: end.trimmed.filter((line) => line.length >= LONG_LINE),
  };
}

function wholeLinesOf(anchor: Anchor): readonly string[] {
  const lines = anchor.kind === 'lines' ? [...anchor.lines] : anchor.text.split('\n');
  if (anchor.kind === 'characters' && anchor.inOpenLine) lines.pop();
  while (lines.length > 0 && isBlankLine(lines.at(-1) ?? '')) lines.pop();
  return lines.map(trimLine);
}

function quotationOf(anchor: Anchor): readonly string[] {
  if (anchor.kind === 'characters') return anchor.text.split('\n');
  return anchor.openLine === '' ? anchor.lines : wholeLines(anchor);
}

function openingsOf(end: ContentEnd, anchor: Anchor): readonly Opening[] {
  const { openLine } = end;
  if (openLine === '') return [];
  const openings: Opening[] = [];
  const isAnchor = wholeLinesOf(anchor).length === 0;
  if (end.openLineIsWhole) {
    openings.push({ text: openLine, via: isAnchor ? 'anchor' : 'tail' });
    const stripped = stripIndentation(openLine);
    // A few characters without their indentation also match the start of the wrong word.
    if (
      isAnchor &&
      anchor.kind === 'lines' &&
      stripped !== openLine &&
      inkOf(stripped) >= MIN_ANCHOR_INK
    )
      openings.push({ text: stripped, via: 'anchor' });
  }
  if (isAnchor && anchor.kind === 'characters' && anchor.text !== openLine)
    openings.push({ text: anchor.text, via: 'anchor' });
  return openings;
}

function restartGroundOf(summary: ContentSummary, end: ContentEnd): RestartGround | null {
  // Content within the tail is compared there; without a last line in the tail its blank lines are unknown.
  if (end.firstLine !== null || end.lines.length === 0) return null;
  const { head, checkpoints, current } = summary.prefix;
  let offset = 0;
  let hash = emptyPrefixHash;
  for (;;) {
    const lineEnd = head.indexOf('\n', offset);
    if (lineEnd === -1) return null;
    if (!isBlankLine(head.slice(offset, lineEnd))) break;
    hash = extendPrefixHash(hash, '');
    offset = lineEnd + 1;
  }
  return {
    head,
    start: { offset, hash },
    checkpoints,
    lines: summary.lineFeeds - end.blankLinesBehind,
    blankLinesBehind: end.blankLinesBehind,
    key: prefixHashKey(current),
  };
}

export function startOverlap(ground: SeamGround, preamble: Preamble): Overlap {
  return {
    preamble,
    inTail: START_STATE,
    inAnchor: ground.anchorLines.length === 0 ? null : 0,
    restart: ground.restart === null ? null : ground.restart.start,
    lines: 0,
    ink: 0,
    lineFeeds: 0,
    carriageReturnLineFeeds: 0,
  };
}

/**
 * The openings within the open line that rule 5 admits for a reply whose repetition begins after `preamble`. If only a
 * few characters of a file are saved, they match the text after a chat line too easily.
 */
export function admittedOpenings(ground: SeamGround, preamble: Preamble): readonly Opening[] {
  const hasInk = ground.openLineInk >= MIN_ANCHOR_INK;
  return ground.openings.filter((opening) =>
    opening.via === 'anchor'
      ? hasInk || preamble.chatLines === 0
      : hasInk && ground.repeated < 0 && isBare(preamble),
  );
}

/** One more line of the reply, without its LF. `completed` says that the content's last line is reached. */
export function extendOverlap(
  ground: SeamGround,
  overlap: Overlap,
  line: string,
  terminated: boolean,
): { readonly overlap: Overlap; readonly completed: Via | null } {
  const trimmed = trimLine(line);
  const isCarriageReturnLineFeed = terminated && line.endsWith('\r');
  const inTail =
    overlap.inTail === null ? null : nextState(ground.automaton, overlap.inTail, trimmed);
  const inAnchor =
    overlap.inAnchor !== null && matchesAnchorLine(ground, overlap.inAnchor, trimmed)
      ? overlap.inAnchor + 1
      : null;
  const restart =
    overlap.restart === null || ground.restart === null
      ? null
      : extendRestart(ground.restart, overlap.restart, trimmed);
  const next: Overlap = {
    preamble: overlap.preamble,
    inTail,
    inAnchor,
    restart,
    lines: overlap.lines + 1,
    ink: overlap.ink < MIN_ANCHOR_INK ? overlap.ink + inkOf(trimmed) : overlap.ink,
    lineFeeds: overlap.lineFeeds + (terminated && !isCarriageReturnLineFeed ? 1 : 0),
    carriageReturnLineFeeds: overlap.carriageReturnLineFeeds + (isCarriageReturnLineFeed ? 1 : 0),
  };
  return { overlap: withoutFinished(ground, next), completed: completedVia(ground, next) };
}

/** Whether the overlap may continue and still end elsewhere. */
export function isLive(overlap: Overlap): boolean {
  return overlap.inTail !== null || overlap.inAnchor !== null || overlap.restart !== null;
}

/** Whether an unfinished line can be the next line of this overlap; true in doubt. */
export function mayBecomeNextLine(ground: SeamGround, overlap: Overlap, part: string): boolean {
  const start = trimLine(part);
  const lines = start.length >= LONG_LINE ? ground.longLines : ground.end.trimmed;
  if (overlap.inTail !== null && lines.some((line) => line.startsWith(start))) return true;
  if (overlap.inAnchor !== null) {
    const anchorLine = ground.anchorLines[overlap.inAnchor] ?? '';
    if (anchorLine.startsWith(start)) return true;
    if (overlap.inAnchor === 0 && stripIndentation(anchorLine).startsWith(stripIndentation(start)))
      return true;
  }
  if (overlap.restart === null || ground.restart === null) return false;
  const { offset } = overlap.restart;
  return offset === null || ground.restart.head.startsWith(start, offset);
}

function withoutFinished(ground: SeamGround, overlap: Overlap): Overlap {
  const { inTail, inAnchor, restart } = overlap;
  return {
    ...overlap,
    inTail: inTail !== null && mayContinue(ground.automaton, inTail) ? inTail : null,
    inAnchor: inAnchor === ground.anchorLines.length ? null : inAnchor,
    restart: restart?.hash.lines === ground.restart?.lines ? null : restart,
  };
}

/** Applies rule 5. */
function completedVia(ground: SeamGround, overlap: Overlap): Via | null {
  const { lines, inTail, inAnchor, restart } = overlap;
  if (inTail !== null && reachesEnd(ground.automaton, inTail)) {
    const hasAnchor = lines >= ground.anchorLines.length;
    const isRestart = ground.end.firstLine === ground.end.lines.length - lines;
    if (isRestart && (!hasAnchor || lines > ground.anchorLines.length)) return 'restart';
    if (hasAnchor) return 'anchor';
    if (
      lines > ground.repeated &&
      overlap.ink + ground.openLineInk >= MIN_ANCHOR_INK &&
      isBare(overlap.preamble) &&
      periodOf(ground.end.trimmed.slice(-lines)).length === 0
    )
      return 'tail';
  }
  if (inAnchor !== null && inAnchor === ground.anchorLines.length) return 'anchor';
  if (restart !== null && ground.restart !== null && isWholeRestart(ground.restart, restart))
    return 'restart';
  return null;
}

function isBare(preamble: Preamble): boolean {
  return !preamble.hasBlankLine && preamble.chatLines === 0;
}

function matchesAnchorLine(ground: SeamGround, index: number, trimmed: string): boolean {
  const expected = ground.anchorLines[index];
  if (expected === undefined) return false;
  if (trimmed === expected) return true;
  // Only the first line may lack all or part of its indentation (rule 4).
  return (
    index === 0 &&
    trimmed.length < expected.length &&
    stripIndentation(trimmed) === stripIndentation(expected) &&
    expected.endsWith(trimmed)
  );
}

function extendRestart(ground: RestartGround, restart: Restart, trimmed: string): Restart | null {
  const { head, checkpoints, lines } = ground;
  let { offset } = restart;
  if (offset !== null) {
    const lineEnd = head.indexOf('\n', offset);
    if (trimLine(head.slice(offset, lineEnd)) !== trimmed) return null;
    offset = lineEnd + 1 < head.length ? lineEnd + 1 : null;
  }
  const hash = extendPrefixHash(restart.hash, trimmed);
  if (hash.lines > lines) return null;
  if (hash.lines % CHECKPOINT_LINES === 0) {
    const checkpoint = checkpoints[hash.lines / CHECKPOINT_LINES - 1];
    if (checkpoint !== undefined && checkpoint !== prefixHashKey(hash)) return null;
  }
  return { offset, hash };
}

function isWholeRestart(ground: RestartGround, restart: Restart): boolean {
  let { hash } = restart;
  if (hash.lines !== ground.lines) return false;
  for (let blank = 0; blank < ground.blankLinesBehind; blank += 1)
    hash = extendPrefixHash(hash, '');
  return prefixHashKey(hash) === ground.key;
}
