import { closesFence, inkOf, isBlankLine, isChatLine, parseFenceLine, trimLine } from '../lines.ts';
import type { FenceLine } from '../lines.ts';
import type { LineEndingConversion } from '../line-ending-converter.ts';
import type { TargetKind } from '../target-kind.ts';
import { MIN_ANCHOR_INK } from './anchor.ts';
import { LONG_LINE } from './seam-overlap.ts';
import type { SeamGround, Via } from './seam-overlap.ts';
import { isClosingTag, isMarkerLine, isOfPrompt } from './seam-preamble.ts';
import type { Preamble } from './seam-preamble.ts';

/**
 * Judges the text after a repetition that has reached the content's end: whether it may be joined (R047, §1.4a rules 4
 * to 7).
 *
 * Invariants
 * B1  `judge` is a function of the text after the repetition and of whether the message has ended; it is called at
 *     fixed offsets only, so that its result does not depend on how the text was divided.
 * B2  Ambiguous text is refused.
 */
export type Continuation = {
  readonly via: Via;
  readonly preamble: Preamble;
  /** The text that must follow first: the open line, or as much of it as the anchor contains. */
  readonly openText: string;
  readonly lines: number;
  readonly lineFeeds: number;
  readonly carriageReturnLineFeeds: number;
  /** If the repeated lines are periodic, the lines that would come next, without blank ones; else empty. */
  readonly period: readonly string[];
  /** The number of blank lines at the content's end that the reply may still repeat, and that it has repeated. */
  readonly blankLinesLeft: number;
  readonly blankLinesDropped: number;
  /** The offset in the reply of `held`, the text after the repetition and those blank lines. */
  readonly start: number;
  readonly held: string;
  readonly judgement: Judgement;
};

export type Judgement =
  /** The open text has not come yet. */
  | { readonly kind: 'open' }
  /** The open text has come; more text must show whether it may be joined. */
  | { readonly kind: 'matched' }
  | { readonly kind: 'failed' }
  | { readonly kind: 'refused'; readonly reason: string }
  | {
      readonly kind: 'settled';
      /** The length of the beginning of `held` that is not new content. */
      readonly skip: number;
      readonly closingLine: string;
      readonly conversion: LineEndingConversion;
      readonly wrappingFence: FenceLine | null;
    };

export type SeamContext = {
  readonly ground: SeamGround;
  readonly kind: TargetKind;
  readonly endMarker: string;
  readonly tagId: string;
  /** Whether a fence is open at the content's end, other than one that wraps all of it. */
  readonly isInFence: boolean;
  readonly contentHasFence: boolean;
};

/** How much text without a line ending is read before conversion is decided without one (rule 7). */
const CONVERSION_REACH = 65_536;

export function judge(context: SeamContext, continuation: Continuation, ended: boolean): Judgement {
  const { held, openText } = continuation;
  if (held.length < openText.length)
    return !ended && openText.startsWith(held) ? { kind: 'open' } : { kind: 'failed' };
  if (!held.startsWith(openText)) return { kind: 'failed' };

  let skip = openText.length;
  if (context.ground.end.endsInCarriageReturn) {
    // The CR is already stored: only a line ending can follow it.
    if (held.length === skip) {
      if (!ended) return { kind: 'matched' };
    } else if (held[skip] === '\r') skip += 1;
    else if (held[skip] !== '\n') return { kind: 'failed' };
  }

  const quotation = closeQuotation(context, continuation, skip, ended);
  if (quotation.kind !== 'content') return quotation;
  const rest = held.slice(quotation.skip);
  const again = repeatsAnchor(context, rest, openText !== '' && quotation.skip === skip, ended);
  if (again === 'unknown') return { kind: 'matched' };
  if (again === 'yes') return { kind: 'refused', reason: 'anchor_repeated' };
  const isPeriodic = continuesPeriod(continuation, ended);
  if (isPeriodic === 'unknown') return { kind: 'matched' };
  if (isPeriodic === 'yes') return { kind: 'refused', reason: 'several_alignments' };
  const conversion = conversionOf(context.ground, continuation, ended);
  if (conversion === null) return { kind: 'matched' };
  return {
    kind: 'settled',
    skip: quotation.skip,
    closingLine: held.slice(skip, quotation.skip),
    conversion,
    wrappingFence: quotation.wrappingFence,
  };
}

type Quotation =
  | { readonly kind: 'content'; readonly skip: number; readonly wrappingFence: FenceLine | null }
  | { readonly kind: 'matched' }
  | { readonly kind: 'refused'; readonly reason: string };

/** Decides whether a fence or tag that the reply opened wraps only the quotation or the whole reply (rule 6). */
function closeQuotation(
  context: SeamContext,
  continuation: Continuation,
  skip: number,
  ended: boolean,
): Quotation {
  const { fence, hasTag } = continuation.preamble;
  const isOpenLine = continuation.openText !== '';
  if (isOpenLine && hasTag) return { kind: 'refused', reason: 'tag_around_open_line' };
  const first = firstTextLine(continuation.held, skip, isOpenLine, ended);
  if (first === 'unknown') return { kind: 'matched' };
  if (first === null || first.isSameLine) {
    if (fence !== null && !mayWrap(context)) return { kind: 'refused', reason: 'fence_ambiguous' };
    return { kind: 'content', skip, wrappingFence: fence };
  }

  if (isOfPrompt(first.line)) return { kind: 'refused', reason: 'text_behind_quotation' };
  const fenceLine = parseFenceLine(first.line);
  const closes =
    fence === null
      ? isClosingTag(first.line, context.tagId)
      : fenceLine !== null && closesFence(fence, fenceLine);
  if (!closes) {
    if (hasTag) return { kind: 'refused', reason: 'tag_not_closed' };
    if (fence !== null && !mayWrap(context)) return { kind: 'refused', reason: 'fence_ambiguous' };
    return { kind: 'content', skip, wrappingFence: fence };
  }
  if (fence !== null && context.kind === 'markdown')
    return { kind: 'refused', reason: 'fence_closes_behind_quotation' };

  const next = firstContentLine(context, continuation.held, first.end, ended);
  if (next === 'unknown') return { kind: 'matched' };
  if (isOpenLine || first.hasBlankBefore) {
    // Nothing more follows: a fence that only wraps closes here.
    if (next === null && fence !== null) return { kind: 'content', skip, wrappingFence: fence };
    // These lines may end the quotation or belong to the file; nothing shows which.
    return { kind: 'refused', reason: 'quotation_closes_elsewhere' };
  }
  if (next !== null && announces(context, next.line))
    return { kind: 'refused', reason: 'text_behind_quotation' };
  return { kind: 'content', skip: first.end, wrappingFence: null };
}

/** Whether a line introduces the continuation rather than being part of it. */
function announces(context: SeamContext, line: string): boolean {
  if (parseFenceLine(line) !== null || isOfPrompt(line)) return true;
  if (!isChatLine(line)) return false;
  return context.kind === 'code' || /[:：]$/u.test(trimLine(line));
}

/**
 * Whether a fence that the reply opened can wrap it. The reply may also have reopened a code block of the content for
 * the quotation; then the closing line is content. In Markdown this is decided at the end of the reply, by the fences of
 * the content: the model is asked about a line that closes none of them.
 */
function mayWrap(context: SeamContext): boolean {
  switch (context.kind) {
    case 'markdown':
      return true;
    case 'prose':
      return !context.isInFence && !context.contentHasFence;
    case 'code':
      return !context.isInFence;
    default:
      return context.kind satisfies never;
  }
}

export function isMarkdownFence(fence: FenceLine): boolean {
  return /^(?:markdown|mdx?)$/iu.test(fence.info);
}

type TextLine = {
  readonly line: string;
  readonly start: number;
  /** The offset after its LF. */
  readonly end: number;
  readonly hasBlankBefore: boolean;
  /** Whether it is the rest of the open line itself. */
  readonly isSameLine: boolean;
};

/** After this many blanks no line counts as the first, so that endless blanks are not read again and again. */
const BLANK_REACH = 2_048;

/** The first non-blank line; null if there is none, 'unknown' while it is not complete. */
function firstTextLine(
  text: string,
  from: number,
  isOpenLine: boolean,
  ended: boolean,
): TextLine | null | 'unknown' {
  let start = from;
  let lines = 0;
  for (;;) {
    const lineEnd = text.indexOf('\n', start);
    const line = text.slice(start, lineEnd === -1 ? text.length : lineEnd);
    const isSameLine = isOpenLine && lines === 0;
    const end = lineEnd === -1 ? text.length : lineEnd + 1;
    const isKnown = isSameLine || lineEnd !== -1 || ended || line.length >= LONG_LINE;
    if (isKnown && !isBlankLine(line))
      return { line, start, end, hasBlankBefore: lines > (isOpenLine ? 1 : 0), isSameLine };
    if (end - from > BLANK_REACH) return null;
    if (lineEnd === -1) return ended ? null : 'unknown';
    start = end;
    lines += 1;
  }
}

/** The first line that is neither blank nor a marker. */
function firstContentLine(
  context: SeamContext,
  text: string,
  from: number,
  ended: boolean,
): TextLine | null | 'unknown' {
  let start = from;
  for (;;) {
    const found = firstTextLine(text, start, false, ended);
    if (found === null || found === 'unknown') return found;
    if (found.end - from > BLANK_REACH) return found;
    if (!isMarkerLine(found.line, context.endMarker)) return found;
    start = found.end;
  }
}

type Repetition = 'yes' | 'no' | 'unknown';

/** How many chat or fence lines between two quotations are skipped. */
const MAX_LINES_BETWEEN = 2;

/** Whether the anchor follows again: then it is unclear after which of the two the file continues (rule 6). */
function repeatsAnchor(
  context: SeamContext,
  rest: string,
  isInOpenLine: boolean,
  ended: boolean,
): Repetition {
  const { anchor, quotation: quoted } = context.ground;
  const endsInOpenLine = anchor.kind === 'characters' ? anchor.inOpenLine : anchor.openLine !== '';
  const text = quoted.join('\n');
  // A few characters at the start of a file occur again in any text.
  if (quoted.length === 1 && endsInOpenLine && inkOf(text) < MIN_ANCHOR_INK) return 'no';
  if (isInOpenLine && rest !== '') {
    if (rest.startsWith(text)) return 'yes';
    if (text.startsWith(rest)) {
      if (!ended) return 'unknown';
      if (inkOf(rest) >= MIN_ANCHOR_INK) return 'yes';
    }
  }
  let start = 0;
  let between = 0;
  let first = true;
  for (;;) {
    const found = firstTextLine(rest, start, first && isInOpenLine, ended);
    if (found === 'unknown') return 'unknown';
    if (found === null || found.isSameLine) return 'no';
    first = false;
    const again = startsWithQuotation(rest, found.start, quoted, {
      endsInOpenLine,
      ended,
    });
    if (again !== 'no') return again;
    if (between === MAX_LINES_BETWEEN) return 'no';
    if (
      !isChatLine(found.line) &&
      parseFenceLine(found.line) === null &&
      !isClosingTag(found.line, context.tagId)
    )
      return 'no';
    between += 1;
    start = found.end;
  }
}

function startsWithQuotation(
  text: string,
  from: number,
  quoted: readonly string[],
  facts: { readonly endsInOpenLine: boolean; readonly ended: boolean },
): Repetition {
  let start = from;
  let nonBlank = 0;
  let ink = 0;
  for (const [index, expected] of quoted.entries()) {
    const lineEnd = text.indexOf('\n', start);
    const line = text.slice(start, lineEnd === -1 ? text.length : lineEnd);
    if (facts.endsInOpenLine && index === quoted.length - 1) {
      if (line.startsWith(expected)) return 'yes';
      if (lineEnd !== -1 || !expected.startsWith(line)) return 'no';
    } else if (lineEnd === -1) {
      if (trimLine(line) === trimLine(expected) && index === quoted.length - 1 && facts.ended)
        return 'yes';
      if (!expected.startsWith(line)) return 'no';
    } else {
      if (trimLine(line) !== trimLine(expected)) return 'no';
      if (!isBlankLine(line)) nonBlank += 1;
      ink += inkOf(line);
      start = lineEnd + 1;
      continue;
    }
    if (!facts.ended) return 'unknown';
    // Cut off within a possible second quotation.
    return nonBlank >= 2 || ink >= MIN_ANCHOR_INK ? 'yes' : 'no';
  }
  return 'yes';
}

/**
 * Whether periodic lines continue in the same way: then a reply that repeats them looks the same as one that continues
 * without repeating, although the anchor is unique (rule 5).
 */
function continuesPeriod({ period, held }: Continuation, ended: boolean): Repetition {
  if (period.length === 0) return 'no';
  let start = 0;
  for (const [index, expected] of period.entries()) {
    const found = firstTextLine(held, start, false, ended);
    if (found === 'unknown') return 'unknown';
    if (found === null || trimLine(found.line) !== expected)
      return found === null && index > 0 ? 'yes' : 'no';
    start = found.end;
  }
  return 'yes';
}

/** Rule 7; null until the line ending that decides has come. */
function conversionOf(
  ground: SeamGround,
  continuation: Continuation,
  ended: boolean,
): LineEndingConversion | null {
  const { eol } = ground;
  if (eol === 'none' || eol === 'mixed') return 'none';
  const convert: LineEndingConversion = eol === 'crlf' ? 'lf_to_crlf' : 'crlf_to_lf';
  const { lineFeeds, carriageReturnLineFeeds } = continuation;
  if (lineFeeds + carriageReturnLineFeeds > 0)
    return (eol === 'crlf' ? carriageReturnLineFeeds : lineFeeds) === 0 ? convert : 'none';
  const { held } = continuation;
  const lineEnd = held.indexOf('\n', continuation.openText.length);
  if (lineEnd !== -1) {
    const isCarriageReturnLineFeed = held[lineEnd - 1] === '\r';
    return isCarriageReturnLineFeed === (eol === 'crlf') ? 'none' : convert;
  }
  if (ended) return 'none';
  // Correct for any reply with one kind of line ending: endings that are already right stay.
  return held.length >= CONVERSION_REACH ? convert : null;
}
