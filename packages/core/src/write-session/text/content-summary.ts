/**
 * Facts about saved content, without the content itself.
 *
 * Invariants
 * C1  A summary depends on the text alone, not on how it was divided: every division gives deep-equal summaries.
 * C2  Its size is bounded, whatever the length of the content or of one line.
 * C3  The cost of appending is linear in the appended text, plus a constant.
 * C4  Offsets are bytes of the UTF-8 file, even if a surrogate pair arrives in two pieces.
 * C5  A line enters the fence ledger and the prefix hash when its LF arrives, and only once.
 */
import { isBlankCode, isHighSurrogate, isLowSurrogate } from '@orion/contracts';
import type { LineEnding } from '@orion/contracts';
import {
  fenceDraftOf,
  ledgerOf,
  LINE_MARK_LENGTH,
  lineMark,
  NO_FENCES,
  noteLine,
} from './fence-ledger.ts';
import type { FenceLedger } from './fence-ledger.ts';
import { trimLine } from './lines.ts';

/**
 * Facts about the content saved so far: enough to choose an anchor, to recognise a restart, and to decide about fences
 * at the end. Only `appendToSummary` extends it; a recovery rebuilds it by passing the content file through the same
 * function.
 */
export type ContentSummary = {
  /** UTF-8 bytes (WTF-8 for lone surrogates). A high surrogate at the end counts three bytes until its pair arrives. */
  readonly bytes: number;
  /** UTF-16 code units, since the last `restartSummary` if there was one. */
  readonly length: number;
  /** LF count: the number of whole lines. */
  readonly lineFeeds: number;
  /** How many of them came before the last `restartSummary`: lines that do not belong to the file. */
  readonly lineFeedsBefore: number;
  /** How many of all LFs follow a CR. */
  readonly carriageReturnLineFeeds: number;
  /** How the last whole line ends, since the last `restartSummary` if there was one; empty if there is none. */
  readonly lastEnding: LineEndingText;
  /** Whether the text contains anything but blanks; the open line counts. */
  readonly hasNonBlankLine: boolean;
  /** Whole lines that are `do` or end in it, minus those that begin with `done`: shell loops still open. */
  readonly openLoops: number;
  /** The text after the last LF; of a long line its end, from `OPEN_LINE_WINDOW` to less than twice as many code units. */
  readonly openLine: string;
  /** The full length of that line in code units. */
  readonly openLineLength: number;
  /** The byte offset of that line. */
  readonly openLineStart: number;
  readonly openLineMark: OpenLineMark;
  readonly tail: ContentTail;
  readonly fences: FenceLedger;
  readonly prefix: PrefixLedger;
};

/**
 * The end of the content: all of it, or at least its last `TAIL_WINDOW` code units. Text arrives in many small strings;
 * if they were kept, they would move to the old generation of the heap, which only a full collection frees. So the text
 * is copied into blocks. The blocks hold code units instead of strings, since each minor collection would copy the
 * strings, and the heap would grow.
 */
export type ContentTail = {
  /** The last whole blocks of `TAIL_BLOCK` code units, oldest first. */
  readonly blocks: readonly Uint16Array[];
  /** The text after them. */
  readonly open: string;
};

/** What the ledgers need to know about the open line when it ends, whatever its length. */
export type OpenLineMark = {
  /** Its first `LINE_MARK_LENGTH` code units. */
  readonly head: string;
  /** Its length without trailing blanks. */
  readonly inkLength: number;
  /** Hash state after the last non-blank character, and after the last character. */
  readonly ink: HashPair;
  readonly all: HashPair;
};

export type HashPair = { readonly first: number; readonly second: number };

/** 128 Ki code units: the part of the content in which an anchor must be unique. */
export const TAIL_WINDOW = 131_072;
/** Divides `TAIL_WINDOW`. */
export const TAIL_BLOCK = 4_096;
export const OPEN_LINE_WINDOW = 4_096;

const HEAD_LENGTH = 16_384;
/** After these, 262,144 lines, only `current` covers the content: the list must not grow with it (C2). */
export const MAX_CHECKPOINTS = 4_096;

/**
 * Recognises a reply that starts the file again: the first lines as text, and after them, for every 64th line, a hash
 * of all lines so far.
 */
export type PrefixLedger = {
  /** The first whole lines, up to 16 Ki code units or a line of more than 8 Ki. */
  readonly head: string;
  /** Whether later whole lines are missing from `head`. */
  readonly headIsClosed: boolean;
  /** `checkpoints[i]` is the key of the hash of the first `(i + 1) * CHECKPOINT_LINES` lines, each trimmed. */
  readonly checkpoints: readonly string[];
  /** Hash state after the last whole line. */
  readonly current: PrefixHash;
};

/** Two independent 32-bit hashes over trimmed lines and their endings. */
export type PrefixHash = HashPair & { readonly lines: number };

export const CHECKPOINT_LINES = 64;

const FIRST_PRIME = 0x01000193;
const SECOND_PRIME = 0x9e3779b1;

export const emptyPrefixHash: PrefixHash = { lines: 0, first: 0x811c9dc5, second: 0x2545f491 };

/** The hash extended by one line; trailing blanks do not count. */
export function extendPrefixHash(hash: PrefixHash, line: string): PrefixHash {
  const { mark } = growOpenLine(startOfLine(hash), NO_OPEN_LINE, line);
  return endHashedLine(mark.ink, hash.lines);
}

/** Equal keys mean equal lines, with a chance of error of 1 in 2^64. */
export function prefixHashKey(hash: PrefixHash): string {
  return `${hash.lines}:${(hash.first >>> 0).toString(16)}:${(hash.second >>> 0).toString(16)}`;
}

function endHashedLine(pair: HashPair, linesBefore: number): PrefixHash {
  return {
    lines: linesBefore + 1,
    first: Math.imul(pair.first ^ 0x0a, FIRST_PRIME),
    second: Math.imul(((pair.second << 5) | (pair.second >>> 27)) ^ 0x0a, SECOND_PRIME),
  };
}

/** A line ending to add or to leave out; empty for none. */
export type LineEndingText = '' | '\n' | '\r\n';

/** The summary of an empty text that begins at this byte of the content. */
export function createSummary(start = 0): ContentSummary {
  return {
    bytes: start,
    length: 0,
    lineFeeds: 0,
    lineFeedsBefore: 0,
    carriageReturnLineFeeds: 0,
    lastEnding: '',
    hasNonBlankLine: false,
    openLoops: 0,
    openLine: '',
    openLineLength: 0,
    openLineStart: start,
    openLineMark: startOfLine(emptyPrefixHash),
    tail: { blocks: [], open: '' },
    fences: NO_FENCES,
    prefix: { head: '', headIsClosed: false, checkpoints: [], current: emptyPrefixHash },
  };
}

/** Of uploaded bytes, which are not read as text: what a receipt and the end of the file depend on. */
export function summaryOfBytes({
  bytes,
  lineFeeds,
  ending,
}: {
  readonly bytes: number;
  readonly lineFeeds: number;
  /** Of the last line. */
  readonly ending: LineEndingText;
}): ContentSummary {
  return {
    ...createSummary(),
    bytes,
    lineFeeds,
    carriageReturnLineFeeds: ending === '\r\n' ? lineFeeds : 0,
    lastEnding: ending,
    hasNonBlankLine: bytes > 0,
    openLineLength: bytes > 0 && ending === '' ? 1 : 0,
  };
}

/**
 * For content that is the file from here on. Bytes and lines are still counted from the start; all other facts begin
 * anew, so that nothing before this point counts as the file's first lines, as an anchor, or as an open fence.
 */
export function restartSummary(summary: ContentSummary): ContentSummary {
  const { bytes, lineFeeds, carriageReturnLineFeeds } = summary;
  return {
    ...createSummary(),
    bytes,
    lineFeeds,
    lineFeedsBefore: lineFeeds,
    carriageReturnLineFeeds,
    openLineStart: bytes,
  };
}

/** The last `TAIL_WINDOW` code units, or all if there are fewer. */
export function tailOf(summary: ContentSummary): string {
  const { blocks, open } = summary.tail;
  const whole = blocks.map((codes) => Reflect.apply(String.fromCharCode, null, codes)).join('');
  return `${whole}${open}`.slice(-TAIL_WINDOW);
}

export function eolOf(summary: ContentSummary): LineEnding {
  if (summary.lineFeeds === 0) return 'none';
  if (summary.carriageReturnLineFeeds === 0) return 'lf';
  return summary.carriageReturnLineFeeds === summary.lineFeeds ? 'crlf' : 'mixed';
}

export function appendToSummary(summary: ContentSummary, text: string): ContentSummary {
  if (text === '') return summary;
  const lineStart = text.lastIndexOf('\n') + 1;
  const before = lineStart === 0 ? summary : withLines(summary, text.slice(0, lineStart));
  const rest = text.slice(lineStart);
  const { mark, bytes } = growOpenLine(before.openLineMark, before, rest);
  const openLineLength = before.openLineLength + rest.length;
  return {
    ...before,
    ...grownTail(summary, text),
    bytes: before.bytes + bytes,
    hasNonBlankLine: before.hasNonBlankLine || mark.inkLength > 0,
    openLine: windowOf(before.openLine + rest, openLineLength, OPEN_LINE_WINDOW),
    openLineLength,
    openLineMark: mark,
  };
}

/** Appends whole lines; the tail is left to the caller. */
function withLines(summary: ContentSummary, text: string): ContentSummary {
  const ledger = fenceDraftOf(summary.fences);
  const checkpoints: string[] = [];
  let { carriageReturnLineFeeds, lastEnding, openLineStart, openLineMark } = summary;
  let { head, headIsClosed, current } = summary.prefix;
  let open: OpenLine = summary;
  let { bytes, lineFeeds, openLoops } = summary;
  let from = 0;
  while (from < text.length) {
    const lineEnd = text.indexOf('\n', from);
    const piece = text.slice(from, lineEnd);
    const grown = growOpenLine(openLineMark, open, piece);
    const lineLength = open.openLineLength + piece.length;
    lastEnding = (piece || open.openLine).endsWith('\r') ? '\r\n' : '\n';
    if (lastEnding === '\r\n') carriageReturnLineFeeds += 1;
    bytes += grown.bytes + 1;
    openLoops += loopsOf(open, piece);
    if (grown.mark.inkLength > 0)
      noteLine(ledger, lineMark(grown.mark, lineFeeds + 1, openLineStart, bytes));
    headIsClosed ||=
      lineLength >= 2 * OPEN_LINE_WINDOW || head.length + lineLength + 1 > HEAD_LENGTH;
    if (!headIsClosed) head += `${open.openLine}${piece}\n`;
    lineFeeds += 1;
    current = endHashedLine(grown.mark.ink, current.lines);
    if (
      current.lines % CHECKPOINT_LINES === 0 &&
      current.lines <= CHECKPOINT_LINES * MAX_CHECKPOINTS
    )
      checkpoints.push(prefixHashKey(current));
    openLineStart = bytes;
    openLineMark = startOfLine(current);
    open = NO_OPEN_LINE;
    from = lineEnd + 1;
  }
  const { prefix } = summary;
  return {
    ...summary,
    ...open,
    bytes,
    lineFeeds,
    carriageReturnLineFeeds,
    lastEnding,
    hasNonBlankLine: summary.hasNonBlankLine || ledger.firstLines.length > 0,
    openLoops,
    openLineStart,
    openLineMark,
    fences: ledgerOf(ledger),
    prefix: {
      head,
      headIsClosed,
      checkpoints:
        checkpoints.length === 0 ? prefix.checkpoints : [...prefix.checkpoints, ...checkpoints],
      current,
    },
  };
}

/** The effect of the line that ends with `piece` on open shell loops: 1, -1 or 0. */
function loopsOf({ openLine, openLineLength }: OpenLine, piece: string): number {
  const end = trimLine(piece);
  const mayOpen = end === '' || end.endsWith('o');
  const mayClose = MAY_BE_DONE.test(openLine === '' ? piece : openLine);
  // Nearly every line returns here, before its pieces are joined.
  if (!mayOpen && !mayClose) return 0;
  const line = trimLine(openLine + piece);
  if (line === 'do' || /^[ \t;]do$/u.test(line.slice(-3))) return 1;
  return openLine.length === openLineLength && CLOSES_LOOP.test(line) ? -1 : 0;
}

const MAY_BE_DONE = /^[ \t]*(?:d|$)/u;
const CLOSES_LOOP = /^[ \t]*done(?![^ \t;|&<>)])/u;

/** The open line if it is short enough to be the beginning of a marker; else empty. */
export function beginningOfMarker({ openLine, openLineLength }: ContentSummary): string {
  return openLineLength <= LONGEST_MARKER ? openLine : '';
}

const LONGEST_MARKER = 'DONE 7f3a'.length;

/** The ledger as if the open line were complete, for decisions at the end of a message. */
export function wholeFenceLedger(summary: ContentSummary): FenceLedger {
  const mark = summary.openLineMark;
  if (mark.inkLength === 0) return summary.fences;
  const draft = fenceDraftOf(summary.fences);
  noteLine(draft, lineMark(mark, summary.lineFeeds + 1, summary.openLineStart, summary.bytes));
  return ledgerOf(draft);
}

type OpenLine = Pick<ContentSummary, 'openLine' | 'openLineLength'>;

const NO_OPEN_LINE: OpenLine = { openLine: '', openLineLength: 0 };

function startOfLine(hash: HashPair): OpenLineMark {
  const pair = { first: hash.first, second: hash.second };
  return { head: '', inkLength: 0, ink: pair, all: pair };
}

/** One pass over the new part of a line: bytes, hash, and where its ink ends (C3). */
function growOpenLine(
  mark: OpenLineMark,
  line: OpenLine,
  text: string,
): { mark: OpenLineMark; bytes: number } {
  if (text === '') return { mark, bytes: 0 };
  let { first, second } = mark.all;
  let inkFirst = mark.ink.first;
  let inkSecond = mark.ink.second;
  let inkEnd = 0;
  let bytes = text.length;
  let previous = line.openLine.charCodeAt(line.openLine.length - 1);
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    first = Math.imul(first ^ code, FIRST_PRIME);
    second = Math.imul(((second << 5) | (second >>> 27)) ^ code, SECOND_PRIME);
    if (!isBlankCode(code)) {
      inkFirst = first;
      inkSecond = second;
      inkEnd = index + 1;
      if (code > 0x7f) {
        if (code < 0x800) bytes += 1;
        // A pair has four bytes; its high surrogate has already counted three of them (C4).
        else if (!(isLowSurrogate(code) && isHighSurrogate(previous))) bytes += 2;
      }
    }
    previous = code;
  }
  return {
    mark: {
      head:
        mark.head.length < LINE_MARK_LENGTH
          ? mark.head + text.slice(0, LINE_MARK_LENGTH - mark.head.length)
          : mark.head,
      inkLength: inkEnd === 0 ? mark.inkLength : line.openLineLength + inkEnd,
      ink: { first: inkFirst, second: inkSecond },
      all: { first, second },
    },
    bytes,
  };
}

/** Blocks are cut at multiples of their size, so that they depend on the text alone (C1). */
function grownTail(summary: ContentSummary, text: string): Pick<ContentSummary, 'length' | 'tail'> {
  const length = summary.length + text.length;
  const { blocks } = summary.tail;
  const open = summary.tail.open + text;
  if (open.length < TAIL_BLOCK) return { length, tail: { blocks, open } };
  const grown = [...blocks];
  let from = 0;
  for (; open.length - from >= TAIL_BLOCK; from += TAIL_BLOCK) {
    grown.push(blockOf(open, from));
  }
  return {
    length,
    tail: { blocks: grown.slice(-TAIL_WINDOW / TAIL_BLOCK), open: open.slice(from) },
  };
}

function blockOf(text: string, from: number): Uint16Array {
  const codes = new Uint16Array(TAIL_BLOCK);
  for (let index = 0; index < TAIL_BLOCK; index += 1) codes[index] = text.charCodeAt(from + index);
  return codes;
}

/**
 * The end of a text of this length that ends with `held`. Cut at multiples of the window only, so that the cut depends
 * on the length alone (C1) and each character is copied once or twice (C3).
 */
function windowOf(held: string, length: number, window: number): string {
  const kept = length < 2 * window ? length : window + (length % window);
  return held.length <= kept ? held : held.slice(-kept);
}
