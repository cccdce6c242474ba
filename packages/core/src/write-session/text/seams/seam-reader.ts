import type { Anchor } from './anchor.ts';
import type { ContentSummary } from '../content-summary.ts';
import type { LineEndingConversion } from '../line-ending-converter.ts';
import { periodOf } from './line-period.ts';
import { isBlankLine } from '../lines.ts';
import type { FenceLine } from '../lines.ts';
import { isMarkdownFence, judge } from './seam-continuation.ts';
import type { Continuation, SeamContext } from './seam-continuation.ts';
import {
  admittedOpenings,
  extendOverlap,
  isLive,
  LONG_LINE,
  mayBecomeNextLine,
  seamGroundOf,
  startOverlap,
} from './seam-overlap.ts';
import type { Overlap, Via } from './seam-overlap.ts';
import { emptyPreamble, extendPreamble, isMarkerLine, tagIdOf } from './seam-preamble.ts';
import type { Preamble } from './seam-preamble.ts';
import { repeatedShifts } from './seam-shifts.ts';
import type { TargetKind } from '../target-kind.ts';

/**
 * Reads a reply that must repeat the end of the saved content, and finds where new content begins (R047, §1.4a).
 *
 * Invariants
 * S1  Verdict and text depend on the reply alone, not on how it was divided: text is evaluated at line ends, every
 *     `EVALUATION_STEP` code units, and at the end of the message.
 * S2  `verified` means that exactly one alignment of reply and content is possible and that rule 5 admits it. A reply
 *     with two possible joins, or one that could only be guessed, is hopeless.
 * S3  Content + `rest` is the new content; `rest` has its own line endings until `conversion` is applied.
 * S4  Held text is bounded by `MAX_HELD`; a repetition that may continue is not held at all.
 */
export type SeamReaderOptions = {
  readonly summary: ContentSummary;
  readonly anchor: Anchor;
  readonly kind: TargetKind;
  /** Read to the end even if hopeless. */
  readonly readToEnd: boolean;
  /** The session's end marker, such as `DONE 7f3a`. */
  readonly endMarker: string;
};

export type SeamVerdict =
  | VerifiedSeam
  /** Only markers and blanks. */
  | { readonly kind: 'marker_only' }
  | { readonly kind: 'blank' }
  /** `reason` is for traces. */
  | { readonly kind: 'hopeless'; readonly reason: string };

export type VerifiedSeam = {
  readonly kind: 'verified';
  readonly via: Via;
  /** Content that directly follows the saved content. It has not been searched for markers. */
  readonly rest: string;
  /** The number of repeated lines, including blank ones and the open line. */
  readonly linesDropped: number;
  /** Chat lines, fences and tags around the repetition. */
  readonly setAside: string;
  readonly conversion: LineEndingConversion;
  /** A fence that the reply opened around itself: its closing line is not content. */
  readonly wrappingFence: FenceLine | null;
};

export type SeamReader = {
  readonly context: SeamContext;
  readonly readToEnd: boolean;
  /** For a repetitive anchor of characters, the texts after its earlier occurrences in the content. */
  readonly shifts: readonly string[];
  /** How much of the reply was evaluated. */
  readonly offset: number;
  /** The text after `offset`. */
  readonly unread: string;
  /** The current line up to `offset`. */
  readonly line: string;
  /** The text before a repetition that may begin with the current line; null when none can begin any more. */
  readonly preamble: Preamble | null;
  readonly overlaps: readonly Overlap[];
  readonly continuations: readonly Continuation[];
  readonly isBlank: boolean;
  readonly isMarkersOnly: boolean;
  readonly hopeless: string | null;
};

export const EVALUATION_STEP = 512;
/** The limit for undecided text, in code units: more than the tail, so that any repetition in it can be decided. */
export const MAX_HELD = 163_840;

export function createSeamReader(options: SeamReaderOptions): SeamReader {
  const { summary, anchor, kind, endMarker } = options;
  const ground = seamGroundOf(summary, anchor);
  const open = summary.fences.open;
  const first = summary.fences.firstLines[0];
  return {
    context: {
      ground,
      kind,
      endMarker,
      tagId: tagIdOf(endMarker),
      // A fence on the first line may wrap the whole content (R032); any other open fence is inside it.
      isInFence:
        open.some(
          (mark) => mark.line !== first?.line || !(kind === 'code' || isMarkdownFence(mark.fence)),
        ) ||
        (kind !== 'code' && /^ {0,3}[`~]/u.test(ground.end.openLine)),
      contentHasFence: summary.fences.fenceCount > 0,
    },
    readToEnd: options.readToEnd,
    shifts: repeatedShifts(ground.end, anchor),
    offset: 0,
    unread: '',
    line: '',
    preamble: emptyPreamble,
    overlaps: [],
    continuations: [],
    isBlank: true,
    isMarkersOnly: true,
    hopeless: null,
  };
}

export function readSeam(
  reader: SeamReader,
  text: string,
): { readonly reader: SeamReader; readonly verdict: SeamVerdict | null } {
  if (reader.hopeless !== null) return { reader, verdict: null };
  const buffer = reader.unread + text;
  let state: SeamReader = { ...reader, unread: '' };
  let from = 0;
  for (;;) {
    const end = nextEvaluation(buffer, from, state.offset);
    if (end === null) break;
    state = readUnit(state, buffer.slice(from, end), false);
    from = end;
    const verdict = decide(state, false);
    if (verdict === null) continue;
    if (verdict.kind === 'verified')
      return { reader: state, verdict: { ...verdict, rest: verdict.rest + buffer.slice(from) } };
    if (verdict.kind !== 'hopeless' || !state.readToEnd) return { reader: state, verdict };
    return { reader: hopelessReader(state, verdict.reason), verdict: null };
  }
  return { reader: { ...state, unread: buffer.slice(from) }, verdict: null };
}

/** For the end of the message, whether orderly or not. */
export function endSeam(reader: SeamReader): SeamVerdict {
  if (reader.hopeless !== null) return { kind: 'hopeless', reason: reader.hopeless };
  const state = readUnit(reader, reader.unread, true);
  return decide(state, true) ?? { kind: 'hopeless', reason: 'ended_within_repetition' };
}

/** Where the text is evaluated next: after an LF or at a multiple of the step (rule 8). */
function nextEvaluation(buffer: string, from: number, offset: number): number | null {
  const step = from + EVALUATION_STEP - (offset % EVALUATION_STEP);
  const lineEnd = buffer.indexOf('\n', from);
  if (lineEnd !== -1 && lineEnd < step) return lineEnd + 1;
  return step <= buffer.length ? step : null;
}

function hopelessReader(reader: SeamReader, reason: string): SeamReader {
  return { ...reader, line: '', preamble: null, overlaps: [], continuations: [], hopeless: reason };
}

function readUnit(reader: SeamReader, unit: string, ended: boolean): SeamReader {
  const terminated = unit.endsWith('\n');
  const isLineStart = reader.line === '';
  const line = reader.line + (terminated ? unit.slice(0, -1) : unit);
  const offset = reader.offset + unit.length;
  let { preamble, overlaps, continuations } = reader;

  if (preamble !== null && isLineStart && unit !== '')
    continuations = [...continuations, ...openingsAt(reader, preamble)];
  continuations = continuations
    .map((continuation) => readContinuation(reader, continuation, unit, ended))
    .filter(({ judgement }) => judgement.kind !== 'failed');

  if (terminated || (ended && line !== '')) {
    const read = readLine(reader.context, { preamble, overlaps, line, offset, terminated });
    // A reply that is cut off within a line might have repeated more.
    const mayRepeat = terminated
      ? []
      : overlaps.filter((overlap) => mayBecomeNextLine(reader.context.ground, overlap, line));
    const found = terminated
      ? read.continuations
      : read.continuations.map((continuation) => judged(reader, continuation, true));
    return {
      ...reader,
      ...factsOf(reader, line),
      offset,
      unread: '',
      line: '',
      preamble: read.preamble,
      overlaps: [...mayRepeat, ...read.overlaps],
      continuations: [...continuations, ...found],
    };
  }
  if (line.length >= LONG_LINE) {
    const { ground } = reader.context;
    overlaps = overlaps.filter(
      (overlap) => line.length <= MAX_HELD && mayBecomeNextLine(ground, overlap, line),
    );
    if (preamble !== null && !mayBecomeNextLine(ground, startOverlap(ground, preamble), line))
      preamble = null;
  }
  const isShort = line.length < LONG_LINE;
  return {
    ...reader,
    isMarkersOnly: reader.isMarkersOnly && isShort,
    isBlank: reader.isBlank && isShort,
    offset,
    unread: '',
    line,
    preamble,
    overlaps,
    continuations,
  };
}

function factsOf(reader: SeamReader, line: string): Pick<SeamReader, 'isBlank' | 'isMarkersOnly'> {
  if (isBlankLine(line)) return reader;
  return {
    isBlank: false,
    isMarkersOnly: reader.isMarkersOnly && isMarkerLine(line, reader.context.endMarker),
  };
}

type LineFacts = {
  readonly preamble: Preamble | null;
  readonly overlaps: readonly Overlap[];
  readonly line: string;
  /** The offset after the line. */
  readonly offset: number;
  readonly terminated: boolean;
};

/** Reads a whole line: each overlap continues with it or fails, and a new one may begin with it. */
function readLine(
  context: SeamContext,
  { preamble, overlaps, line, offset, terminated }: LineFacts,
): Pick<SeamReader, 'preamble' | 'overlaps' | 'continuations'> {
  const { ground } = context;
  const begins = preamble !== null && !isBlankLine(line);
  const candidates = begins ? [...overlaps, startOverlap(ground, preamble)] : overlaps;
  const live: Overlap[] = [];
  let complete: { readonly overlap: Overlap; readonly via: Via } | null = null;
  for (const candidate of candidates) {
    const { overlap, completed } = extendOverlap(ground, candidate, line, terminated);
    if (isLive(overlap)) live.push(overlap);
    // All overlaps that end here are the same join; the first sets aside the least.
    if (completed !== null) complete ??= { overlap, via: completed };
  }
  return {
    preamble: preamble === null ? null : extendPreamble(preamble, line, context.tagId),
    overlaps: live,
    continuations: complete === null ? [] : [continuationOf(context, complete, offset)],
  };
}

function continuationOf(
  context: SeamContext,
  { overlap, via }: { readonly overlap: Overlap; readonly via: Via },
  start: number,
): Continuation {
  const { preamble, lines, lineFeeds, carriageReturnLineFeeds } = overlap;
  const { end, runPeriod } = context.ground;
  const period = periodOf(end.trimmed.slice(-lines));
  return {
    ...continuationWithoutLines(via, preamble, end.openLine, start),
    lines,
    lineFeeds,
    carriageReturnLineFeeds,
    period: period.length > 0 ? period : runPeriod,
    blankLinesLeft: end.blankLinesBehind,
    judgement: { kind: end.openLine === '' ? 'matched' : 'open' },
  };
}

function openingsAt(reader: SeamReader, preamble: Preamble): readonly Continuation[] {
  return admittedOpenings(reader.context.ground, preamble).map(({ via, text }) =>
    continuationWithoutLines(via, preamble, text, reader.offset),
  );
}

/** A continuation of a repetition without whole lines. */
function continuationWithoutLines(
  via: Via,
  preamble: Preamble,
  openText: string,
  start: number,
): Continuation {
  return {
    via,
    preamble,
    openText,
    lines: 0,
    lineFeeds: 0,
    carriageReturnLineFeeds: 0,
    period: [],
    blankLinesLeft: 0,
    blankLinesDropped: 0,
    start,
    held: '',
    judgement: { kind: 'open' },
  };
}

function readContinuation(
  reader: SeamReader,
  continuation: Continuation,
  unit: string,
  ended: boolean,
): Continuation {
  const { blankLinesLeft, blankLinesDropped, start, judgement } = continuation;
  const held = continuation.held + unit;
  const grown = { ...continuation, held };
  // Settled text is only held until no other alignment is possible.
  if (judgement.kind === 'settled' || judgement.kind === 'refused') return grown;
  const terminated = unit.endsWith('\n');
  if (blankLinesLeft === 0 || !isBlankLine(terminated ? held.slice(0, -1) : held))
    return judged(reader, { ...grown, blankLinesLeft: 0 }, ended);
  if (!terminated) return ended ? judged(reader, grown, true) : grown;
  return {
    ...continuation,
    blankLinesLeft: blankLinesLeft - 1,
    blankLinesDropped: blankLinesDropped + 1,
    start: start + held.length,
    held: '',
  };
}

function judged(reader: SeamReader, continuation: Continuation, ended: boolean): Continuation {
  const judgement = judge(reader.context, continuation, ended);
  if (judgement.kind !== 'settled' || reader.shifts.length === 0)
    return { ...continuation, judgement };
  // Rule 5 for characters: the same reply must not also fit an earlier place of the content.
  const rest = continuation.held.slice(judgement.skip).replaceAll('\r\n', '\n');
  for (const shift of reader.shifts) {
    if (rest.startsWith(shift))
      return { ...continuation, judgement: { kind: 'refused', reason: 'several_alignments' } };
    if (!shift.startsWith(rest)) continue;
    if (!ended) return { ...continuation, judgement: { kind: 'matched' } };
    if (!isBlankLine(rest))
      return { ...continuation, judgement: { kind: 'refused', reason: 'several_alignments' } };
  }
  return { ...continuation, judgement };
}

function decide(reader: SeamReader, ended: boolean): SeamVerdict | null {
  if (ended && reader.isBlank) return { kind: 'blank' };
  if (ended && reader.isMarkersOnly) return { kind: 'marker_only' };
  const continuations = reader.continuations.filter(
    (continuation) => !reader.continuations.some((other) => isBetter(other, continuation)),
  );
  const refused = continuations.find(({ judgement }) => judgement.kind === 'refused');
  if (refused?.judgement.kind === 'refused')
    return { kind: 'hopeless', reason: refused.judgement.reason };
  const matched = continuations.filter(({ judgement }) => judgement.kind !== 'open');
  const [first] = matched;
  if (new Set(matched.map(joinOf)).size > 1)
    return { kind: 'hopeless', reason: 'several_alignments' };
  if (continuations.some(({ held }) => held.length > MAX_HELD))
    return { kind: 'hopeless', reason: 'undecided_for_too_long' };

  const isOpen =
    reader.overlaps.length > 0 ||
    (reader.preamble !== null && !ended) ||
    continuations.length > matched.length;
  if (first !== undefined) {
    if (first.judgement.kind !== 'settled') return null;
    if (!isOpen) return verified(first);
    if (!ended) return null;
    // Another alignment was possible until the end: harmless only if there is nothing to append.
    const seam = verified(first);
    return seam !== null && isNothing(reader, seam.rest)
      ? seam
      : { kind: 'hopeless', reason: 'several_alignments' };
  }
  if (isOpen || (reader.isMarkersOnly && !ended)) return null;
  return { kind: 'hopeless', reason: 'no_alignment' };
}

/** Whether `other` is the same join and sets less text aside. */
function isBetter(other: Continuation, continuation: Continuation): boolean {
  return (
    joinOf(other) === joinOf(continuation) &&
    other.preamble.text.length < continuation.preamble.text.length
  );
}

/** The offset in the reply at which new content begins. */
function joinOf({ start, openText }: Continuation): number {
  return start + openText.length;
}

function isNothing(reader: SeamReader, rest: string): boolean {
  return rest
    .split('\n')
    .every((line) => isBlankLine(line) || isMarkerLine(line, reader.context.endMarker));
}

function verified(continuation: Continuation): VerifiedSeam | null {
  const { via, preamble, openText, lines, blankLinesDropped, held, judgement } = continuation;
  if (judgement.kind !== 'settled') return null;
  return {
    kind: 'verified',
    via,
    rest: held.slice(judgement.skip),
    linesDropped: lines + blankLinesDropped + (openText === '' ? 0 : 1),
    setAside: preamble.text + judgement.closingLine,
    conversion: judgement.conversion,
    wrappingFence: judgement.wrappingFence,
  };
}
