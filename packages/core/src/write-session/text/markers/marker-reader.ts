/**
 * Finds the end of the content in one message whose text is content (R020 to R034).
 *
 * The text must be as it will be in the content, that is, after the seam reader and any conversion of line endings,
 * since offsets are counted here. A caller appends the content that `readMarkers` returns, in order, and at the end, or
 * when `ended` is set, calls `endMarkers` once.
 *
 * Invariants
 * M1  Content and ending do not depend on how the message was divided (R025).
 * M2  Released content is never taken back: a line that may turn out to be a marker is held, with the blanks after it,
 *     until the next text or the end decides (R026).
 * M3  Released content, what is held, what is set aside and a marker with its blanks are the message in order:
 *     nothing is added, nothing is lost; but blank lines before the first line of a file are only counted (R272).
 * M4  Content ends directly before the marker's first character: the line ending before it stays (R029).
 * M5  A bare DONE ends the content only at an orderly end of the message and with nothing but blanks after it
 *     (R022, R031); the session's own end marker does so anywhere (R034).
 * M6  The cost is linear in the text, also for endless lines and for endless blanks after a marker.
 */
import { inkEndOf, isBlankOrLineFeed } from '@orion/contracts';
import type { EndCandidate } from '@orion/contracts';
import type { FencesAtEnd } from '../fence-decision.ts';
import { withoutTokensAtEnd } from '../chat-tokens.ts';
import { trimLine } from '../lines.ts';
import {
  afterMarker,
  closesWrapping,
  NO_GROUP,
  releaseGroup,
  withEndMarker,
  withLine,
  withMarker,
} from './held-group.ts';
import type { HeldGroup } from './held-group.ts';
import type { MarkerReaderOptions } from './marker-rules.ts';
import { mergedEnds } from './inner-done.ts';
import type { InnerDone } from './inner-done.ts';
import { isBareDone, nearMissOf } from './near-miss.ts';
import { createOutput, RECENT_LENGTH } from './released-content.ts';
import type { Released } from './released-content.ts';
import { growPartial, kindOfLine, mayBeSpecial, NO_LINE } from './undecided-line.ts';
import type { UndecidedLine } from './undecided-line.ts';

type EndingParts = {
  /** Lines of the saved content, counted from 1, that are a bare DONE from this message; at most `INNER_DONE_LIMIT`. */
  readonly innerDoneLines: readonly number[];
  /** Text that is not content, marker or blank: the closing line of a wrapping fence, or with `first` the remainder. */
  readonly setAside: string;
};

/** How a message has ended. */
type EndingCore =
  | { readonly kind: 'none' }
  | { readonly kind: 'terminal'; readonly marker: 'done' | 'end_marker' }
  | {
      readonly kind: 'ambiguous';
      /** At most two, the last first. */
      readonly candidates: readonly EndCandidate[];
      /** What to ask if the file does not end at one of them. */
      readonly nearMiss: NearMiss | null;
    }
  | ({ readonly kind: 'near_miss' } & NearMiss);

export type MessageEnding = EndingParts & EndingCore;

export type NearMiss = {
  readonly text: string;
  /** Bytes of content before it and before the blank lines that make it a separate paragraph. */
  readonly contentEnd: number;
};

/** The saved content at the end of a message, including everything that its reader has released. */
export type ContentAtEnd = {
  readonly fences: FencesAtEnd;
  /** Shell loops that are still open; negative if more were closed than opened. */
  readonly openLoops: number;
};

export type MarkerReader = {
  readonly options: MarkerReaderOptions;
  readonly phase: 'reading' | 'remainder' | 'ended';
  /** Blanks of the current line, while only blanks have come; null after the first other character. */
  readonly indentation: string | null;
  /** How many blank lines before the first line were dropped. */
  readonly blankLinesDropped: number;
  /** Whether the next character belongs to a line that is content; else the line is still undecided. */
  readonly inLine: boolean;
  /** The undecided line so far. */
  readonly partial: UndecidedLine;
  readonly group: HeldGroup;
  readonly released: Released;
  /** With `first`: what came after the first DONE. */
  readonly remainder: string;
};

export function createMarkerReader(options: MarkerReaderOptions): MarkerReader {
  return {
    options,
    phase: 'reading',
    indentation: options.dropBlankLines ? '' : null,
    blankLinesDropped: 0,
    inLine: !options.atLineStart,
    partial: NO_LINE,
    group: NO_GROUP,
    released: {
      bytes: options.contentBytes,
      lineFeeds: options.contentLines,
      endsInHighSurrogate: false,
      hasInk: false,
      length: 0,
      recent: '',
      innerDoneLines: [],
      lastInner: [],
      lastChatInner: [],
      doubledDone: [],
      watch: null,
    },
    remainder: '',
  };
}

/**
 * `content` can be appended now. `ended`: the end marker's line is complete; `rest`, and every later text of the
 * message, is chat, and `endMarkers` is due.
 */
export function readMarkers(
  reader: MarkerReader,
  text: string,
): {
  readonly reader: MarkerReader;
  readonly content: string;
  readonly ended: { readonly rest: string } | null;
} {
  if (reader.phase === 'ended') return { reader, content: '', ended: { rest: text } };
  if (reader.phase === 'remainder')
    return { reader: { ...reader, remainder: reader.remainder + text }, content: '', ended: null };
  if (reader.indentation !== null) {
    const { found, rest } = withoutBlankLines(reader, text);
    return found.indentation === null
      ? readMarkers(found, rest)
      : { reader: found, content: '', ended: null };
  }

  const { options } = reader;
  const out = createOutput(reader.released);
  let { inLine, partial, group } = reader;
  let phase: MarkerReader['phase'] = 'reading';
  let remainder = '';
  let rest: string | null = null;
  // Text from here to `index` is content that has not been handed on.
  let from = 0;
  let index = 0;
  while (index < text.length) {
    if (inLine) {
      const lineEnd = text.indexOf('\n', index);
      inLine = lineEnd === -1;
      index = inLine ? text.length : lineEnd + 1;
      continue;
    }
    if (partial === NO_LINE && group === NO_GROUP && !mayBeSpecial(options, text, index)) {
      inLine = true;
      continue;
    }

    // A line that may be special begins or continues here: what comes before it is released first.
    out.release(text.slice(from, index));
    const lineEnd = text.indexOf('\n', index);
    const pieceEnd = lineEnd === -1 ? text.length : lineEnd;
    partial = growPartial(partial, text, index, pieceEnd);
    const kind = kindOfLine(options, partial, group, lineEnd !== -1);
    if (lineEnd === -1) {
      if (kind === 'text') {
        releaseGroup(out, group);
        out.release(partial.core + partial.blanks);
        group = NO_GROUP;
        partial = NO_LINE;
        inLine = true;
      }
      index = from = text.length;
      break;
    }

    const line = `${partial.core}${partial.blanks}\n`;
    partial = NO_LINE;
    index = from = lineEnd + 1;
    if (kind === 'done' && options.doneMode === 'first') {
      group = withMarker(options, out, group, line);
      phase = 'remainder';
      remainder = text.slice(index);
      index = from = text.length;
      break;
    }
    if (kind === 'end_marker') {
      group = withEndMarker(out, group);
      phase = 'ended';
      rest = text.slice(index);
      index = from = text.length;
      break;
    }
    group = withLine(options, out, group, kind, line);
  }
  out.release(text.slice(from, index));

  return {
    reader: { ...reader, phase, inLine, partial, group, released: out.state(), remainder },
    content: out.content(),
    ended: rest === null ? null : { rest },
  };
}

/** Drops blank lines up to the first non-blank character; the blanks on its own line are its indentation. */
function withoutBlankLines(
  reader: MarkerReader,
  text: string,
): { readonly found: MarkerReader; readonly rest: string } {
  let { blankLinesDropped } = reader;
  let start = 0;
  let index = 0;
  while (index < text.length && isBlankOrLineFeed(text.charCodeAt(index))) {
    index += 1;
    if (text.charCodeAt(index - 1) !== 0x0a) continue;
    blankLinesDropped += 1;
    start = index;
  }
  const before = start === 0 ? (reader.indentation ?? '') : '';
  const isFound = index < text.length;
  return {
    found: {
      ...reader,
      indentation: isFound ? null : before + text.slice(start),
      blankLinesDropped,
    },
    rest: isFound ? before + text.slice(start) : '',
  };
}

/** The message has ended, orderly or by a broken stream, a length stop or a cancellation. */
export function endMarkers(
  reader: MarkerReader,
  orderly: boolean,
  { fences, openLoops }: ContentAtEnd,
): {
  readonly content: string;
  readonly ending: MessageEnding;
  readonly blank: boolean;
  /** Whether a closing line was set aside before the marker. */
  readonly closesBeforeMarker: boolean;
} {
  const { options } = reader;
  const out = createOutput(reader.released);
  let { group } = reader;
  let setAside = '';
  let closesBeforeMarker = false;
  let marker: 'done' | 'end_marker' | null = reader.phase === 'ended' ? 'end_marker' : null;
  if (reader.phase === 'reading') {
    const { partial } = reader;
    const line = partial.core + partial.blanks;
    const kind = kindOfLine(options, partial, group, true);
    if (kind === 'end_marker') {
      group = withEndMarker(out, group);
      if (orderly) marker = 'end_marker';
    } else if (line !== '') {
      group = withLine(options, out, group, kind, line);
    }
  }

  const closesReply = closesWrapping(options, group.fenceBefore) && fences.open.length === 0;
  // Otherwise that line closes a fence of the content, and no outer fence encloses the rest.
  const fencesBehind =
    group.fenceBefore === '' || closesReply
      ? fences
      : { open: fences.open.slice(0, -1), enclosing: null, isFresh: false };
  const after = group.marker === '' ? null : afterMarker(reader, group, fencesBehind);
  if (group.marker !== '' && after === null) {
    releaseGroup(out, group);
  } else {
    closesBeforeMarker = closesReply;
    if (closesReply) setAside += group.fenceBefore;
    else out.release(group.fenceBefore);
    // At a broken stream the marker is discarded with what it would have ended: the anchor ends before it, so a
    // model for which it was content writes it again (R031).
    setAside += after?.setAside ?? '';
    if (after !== null && orderly) {
      marker = 'done';
      out.release(after.content);
    }
  }

  const released = out.finish();
  const parts: EndingParts = { innerDoneLines: released.innerDoneLines, setAside };
  return {
    content: out.content(),
    ending: { ...endingOf(reader, released, marker, orderly, { fences, openLoops }), ...parts },
    blank: !released.hasInk,
    closesBeforeMarker,
  };
}

function endingOf(
  reader: MarkerReader,
  released: Released,
  marker: 'done' | 'end_marker' | null,
  orderly: boolean,
  { fences, openLoops }: ContentAtEnd,
): EndingCore {
  if (marker === 'end_marker') return { kind: 'terminal', marker };
  if (marker === 'done') {
    const candidates = mergedEnds(released.doubledDone, released.lastChatInner);
    // The message says DONE once more: the first one began in what was cut off.
    const torn = candidates.length === 0 ? tornMarker(reader, released) : null;
    if (torn !== null) return { kind: 'near_miss', ...torn };
    return candidates.length > 0
      ? { kind: 'ambiguous', candidates, nearMiss: null }
      : { kind: 'terminal', marker };
  }
  if (!orderly) return { kind: 'none' };
  const quoted = fences.isFresh ? quotedDone(released) : null;
  const found = quoted ?? nearMiss(reader, released, { fences, openLoops });
  const isWithin = ({ contentEnd }: EndCandidate): boolean =>
    quoted === null || contentEnd < quoted.contentEnd;
  const candidates = released.lastInner.filter(isWithin);
  if (candidates.length > 0) return { kind: 'ambiguous', candidates, nearMiss: found };
  return found === null ? { kind: 'none' } : { kind: 'near_miss', ...found };
}

/** A marker whose beginning was cut off and is already content, with nothing after it: the whole line is left out. */
function tornMarker({ options }: MarkerReader, released: Released): NearMiss | null {
  const { atLineStart, openLine, contentBytes } = options;
  if (atLineStart || openLine === '' || released.length > released.recent.length) return null;
  const line = trimLine(openLine + released.recent.trimEnd());
  if (!isBareDone(line)) return null;
  return { text: line, contentEnd: contentBytes - Buffer.byteLength(openLine) };
}

const QUOTED_DONE =
  /(?:^|\n)( {0,3}(`{3,}|~{3,})[^\n`]*\n[ \t]*DONE(?: [0-9a-f]{4})?[ \t\r]*\n {0,3}\2[ \t\r]*)[ \t\r\n]*$/u;

/** A DONE that is the only line of a fence at the end. */
function quotedDone({ recent, bytes }: Released): NearMiss | null {
  const end = recent.slice(-RECENT_LENGTH);
  const [match, text] = QUOTED_DONE.exec(end) ?? [];
  if (match === undefined || text === undefined) return null;
  const lineStart = end.length - match.length + match.indexOf(text);
  const before = end.slice(0, lineStart);
  const inkEnd = inkEndOf(before, lineStart);
  const start = inkEnd === 0 ? lineStart : end.indexOf('\n', inkEnd) + 1;
  return { text: text.trimEnd(), contentEnd: bytes - Buffer.byteLength(end.slice(start)) };
}

function nearMiss(
  reader: MarkerReader,
  released: Released,
  { fences, openLoops }: ContentAtEnd,
): NearMiss | null {
  const torn = tornMarker(reader, released);
  if (torn !== null) return torn;
  const recent = released.recent.slice(-RECENT_LENGTH);
  const inkEnd = inkEndOf(recent, recent.length);
  if (inkEnd === 0) return null;
  const { atLineStart, contentBytes } = reader.options;
  const lineStart = recent.lastIndexOf('\n', inkEnd - 1) + 1;
  const line = recent.slice(lineStart, inkEnd);
  const isAll = recent.length === released.length;
  const isMessage = lineStart === 0 && isAll;
  const isTerminated = recent.includes('\n', inkEnd);
  const textEnd = textEndBefore(recent.slice(0, lineStart), isAll && contentBytes > 0, atLineStart);
  // A message that is DONE alone, in the content's open line, is joined to the text there.
  const isJoined =
    isMessage && !atLineStart && !isTerminated && isBareDone(withoutTokensAtEnd(line));
  const text = isJoined
    ? line
    : nearMissOf({
        text: line,
        isWhole: lineStart > 0 || (isMessage && atLineStart),
        isTerminated,
        isParagraph: textEnd !== null,
        // A whole line `done` has closed its loop already.
        closesLoop: openLoops >= (isTerminated ? 0 : 1),
        openFence: fences.open.at(-1) ?? null,
      });
  if (text === null) return null;
  // What is a paragraph of its own goes with the blank lines before it.
  const start = textEnd !== null && text === line ? textEnd : inkEnd - text.length;
  return { text, contentEnd: released.bytes - Buffer.byteLength(recent.slice(start)) };
}

/**
 * The offset after the last line before the blank lines at the end of `before`; null if it does not end with blank
 * lines. `isBehindText`: `before` follows saved text, at the start of a line or not.
 */
function textEndBefore(before: string, isBehindText: boolean, atLineStart: boolean): number | null {
  const inkEnd = inkEndOf(before, before.length);
  if (inkEnd === 0 && !isBehindText) return null;
  const textEnd = inkEnd === 0 && atLineStart ? 0 : before.indexOf('\n', inkEnd) + 1;
  return textEnd < before.length ? textEnd : null;
}

/** For a message that is abandoned: what is held is not content and does not count. */
export function innerDoneOf(reader: MarkerReader): InnerDone {
  const { innerDoneLines, lastChatInner } = createOutput(reader.released).finish();
  return { lines: innerDoneLines, chatEnds: lastChatInner };
}

/** Whether the message could end here with a marker; a settle window waits for that (R031). */
export function holdsMarker(reader: MarkerReader): boolean {
  if (reader.phase !== 'reading') return true;
  const kind = kindOfLine(reader.options, reader.partial, reader.group, true);
  if (kind === 'done' || kind === 'end_marker') return true;
  return reader.group.marker !== '' && (kind === 'blank' || kind === 'fence');
}
