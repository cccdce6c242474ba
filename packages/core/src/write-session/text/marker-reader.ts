/**
 * Finds the end of the content in one message whose text is content (R020 to R034).
 *
 * The text comes as it will stand in the content: after the seam reader and after any conversion of line endings,
 * since offsets are counted here. A caller appends what `readMarkers` gives it, in order, and at the end, or when
 * `ended` is set, calls `endMarkers` once.
 *
 * Invariants
 * M1  Content and ending do not depend on how the message was divided (R025).
 * M2  What is released as content is never taken back: a line that may turn out to be a marker is held, with the
 *     blanks after it, until the next text or the end decides (R026).
 * M3  Released content, what is held, what is set aside and a marker with its blanks are the message in order:
 *     nothing is added, nothing is lost.
 * M4  Content ends directly before the marker's first character: the line ending before it stays (R029).
 * M5  A bare DONE ends the content only at an orderly end of the message and with nothing but blanks after it
 *     (R022, R031); the session's own end marker does so wherever it stands (R034).
 * M6  The cost is linear in the text, also for endless lines and for endless blanks after a marker.
 */
import type { EndCandidate } from '@orion/contracts';
import type { FencesAtEnd } from './fence-decision.ts';
import {
  closesFence,
  isBlankLine,
  isChatLine,
  parseFenceLine,
  trimLine,
  utf8Length,
  type FenceLine,
} from './lines.ts';
import { decoratedDone, isBareDone, joinedDone } from './near-miss.ts';

export type MarkerReaderOptions = {
  /** The session's own marker line, such as `DONE 7f3a`. */
  readonly endMarker: string;
  /** Only the end marker counts; a bare DONE is content like any other line. */
  readonly strict: boolean;
  /** `first`: the first bare DONE ends the content and what follows is set aside. */
  readonly doneMode: 'terminal' | 'first';
  /** False when the message goes on in the content's open line. */
  readonly atLineStart: boolean;
  /** Bytes and LF count of the content before this message. */
  readonly contentBytes: number;
  readonly contentLines: number;
  /** A fence that the reply opened around its text and that is not part of it; its closing line is set aside. */
  readonly wrappingFence: FenceLine | null;
};

type EndingParts = {
  /** Lines of the saved content, counted from 1, that are a bare DONE of this message; at most `INNER_DONE_LIMIT`. */
  readonly innerDoneLines: readonly number[];
  /** Text that is not content, not a marker and not blank: a wrapping fence's closing line, or with `first` the remainder. */
  readonly setAside: string;
};

export type MessageEnding = EndingParts &
  (
    | { readonly kind: 'none' }
    | { readonly kind: 'terminal'; readonly marker: 'done' | 'end_marker' }
    | {
        readonly kind: 'ambiguous';
        /** At most two, the last first. */
        readonly candidates: readonly EndCandidate[];
      }
    | {
        readonly kind: 'near_miss';
        readonly text: string;
        /** Bytes of content before it. */
        readonly contentEnd: number;
      }
  );

/** The first so many are listed: a receipt names lines, it does not repeat a log. */
export const INNER_DONE_LIMIT = 1_000;

const CANDIDATES = 2;
/** Code units of the line after a DONE that are looked at; a chat line is shorter. */
const WATCH_LENGTH = 400;
const FOLLOWING_LENGTH = 80;
/** The end of the content in which a near miss is looked for. */
const RECENT_LENGTH = 4_096;
/** A longer line without its trailing blanks is neither a marker nor a closing fence. */
const SPECIAL_LENGTH = 128;

export type MarkerReader = {
  readonly options: MarkerReaderOptions;
  readonly phase: 'reading' | 'remainder' | 'ended';
  /** Where the next character stands: in a line that is content, or in one that is still undecided. */
  readonly inLine: boolean;
  /** The undecided line so far. */
  readonly partial: UndecidedLine;
  readonly group: Group;
  readonly released: Released;
  /** With `first`: what came after the first DONE. */
  readonly remainder: string;
};

/** A line without its LF, divided so that endless blanks at its end need not be looked at again (M6). */
type UndecidedLine = {
  /** Up to the last character that is not a blank. */
  readonly core: string;
  readonly blanks: string;
  readonly endsInCarriageReturn: boolean;
  /** Whether a CR stands anywhere but at the very end of `blanks`: then the line is no marker (R020). */
  readonly strayCarriageReturn: boolean;
};

const NO_LINE: UndecidedLine = {
  core: '',
  blanks: '',
  endsInCarriageReturn: false,
  strayCarriageReturn: false,
};

/** Complete lines that are held, in this order; each with its LF. */
type Group = {
  /** A line that closes the wrapping fence, and blank lines after it. */
  readonly fenceBefore: string;
  /** A bare DONE; several if the message has had nothing else. */
  readonly marker: string;
  readonly blanksAfterMarker: string;
  /** A closing fence after DONE, and blank lines after it. */
  readonly fenceAfter: string;
};

const NO_GROUP: Group = { fenceBefore: '', marker: '', blanksAfterMarker: '', fenceAfter: '' };

/** What is known of the content that this message has given. */
type Released = {
  readonly bytes: number;
  readonly lineFeeds: number;
  readonly endsInHighSurrogate: boolean;
  /** Whether any of it is not blank. */
  readonly hasInk: boolean;
  /** Its length in code units, and its end. */
  readonly length: number;
  readonly recent: string;
  readonly innerDoneLines: readonly number[];
  readonly hasInnerDone: boolean;
  /** The last bare DONE lines in it, and the last of those that a chat line follows. */
  readonly lastInner: readonly EndCandidate[];
  readonly lastChatInner: readonly EndCandidate[];
  /** The latest DONE while the line after it is not complete. */
  readonly watch: Watch | null;
};

type Watch = {
  readonly line: number;
  readonly contentEnd: number;
  readonly text: string;
  /** Whether text beyond `WATCH_LENGTH` has come that is not blank. */
  readonly isLong: boolean;
};

export function createMarkerReader(options: MarkerReaderOptions): MarkerReader {
  return {
    options,
    phase: 'reading',
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
      hasInnerDone: false,
      lastInner: [],
      lastChatInner: [],
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

    // A line that may be special begins or goes on here: what stands before it is handed on first.
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
      group = withMarker(out, group, line);
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
    reader: { options, phase, inLine, partial, group, released: out.state(), remainder },
    content: out.content(),
    ended: rest === null ? null : { rest },
  };
}

/**
 * The message has ended, orderly or by a broken stream, a length stop or a cancellation; `fences` describes the
 * content with everything that this reader has released (`fencesAtEnd`).
 */
export function endMarkers(
  reader: MarkerReader,
  orderly: boolean,
  fences: FencesAtEnd,
): { readonly content: string; readonly ending: MessageEnding; readonly blank: boolean } {
  const { options } = reader;
  const out = createOutput(reader.released);
  let { group } = reader;
  let setAside = '';
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
  // Otherwise that line closes a fence of the content, and none that was open outside it encloses the rest.
  const fencesBehind =
    group.fenceBefore === '' || closesReply
      ? fences
      : { open: fences.open.slice(0, -1), enclosing: null };
  const after = group.marker === '' ? null : afterMarker(reader, group, fencesBehind);
  if (group.marker !== '' && after === null) {
    releaseGroup(out, group);
  } else {
    if (closesReply) setAside += group.fenceBefore;
    else out.release(group.fenceBefore);
    // At a broken stream the marker is discarded with what it would have ended: the anchor stands before it, so a
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
    ending: { ...endingOf(reader, released, marker, orderly), ...parts },
    blank: !released.hasInk,
  };
}

type EndingCore =
  | { readonly kind: 'none' }
  | { readonly kind: 'terminal'; readonly marker: 'done' | 'end_marker' }
  | { readonly kind: 'ambiguous'; readonly candidates: readonly EndCandidate[] }
  | { readonly kind: 'near_miss'; readonly text: string; readonly contentEnd: number };

function endingOf(
  reader: MarkerReader,
  released: Released,
  marker: 'done' | 'end_marker' | null,
  orderly: boolean,
): EndingCore {
  if (marker === 'end_marker') return { kind: 'terminal', marker };
  if (marker === 'done') {
    if (released.lastChatInner.length > 0)
      return { kind: 'ambiguous', candidates: released.lastChatInner };
    return { kind: 'terminal', marker };
  }
  if (!orderly) return { kind: 'none' };
  if (released.hasInnerDone) return { kind: 'ambiguous', candidates: released.lastInner };
  return nearMiss(reader, released) ?? { kind: 'none' };
}

function nearMiss(reader: MarkerReader, released: Released): EndingCore | null {
  const recent = released.recent.slice(-RECENT_LENGTH);
  let inkEnd = recent.length;
  while (inkEnd > 0 && isBlankOrLineFeed(recent.charCodeAt(inkEnd - 1))) inkEnd -= 1;
  if (inkEnd === 0) return null;
  const lineStart = recent.lastIndexOf('\n', inkEnd - 1) + 1;
  const line = recent.slice(lineStart, inkEnd);
  const isWholeLine =
    lineStart > 0 || (recent.length === released.length && reader.options.atLineStart);
  const joined = recent.length === inkEnd ? joinedAtEnd(reader, released, line) : null;
  const text = joined ?? (isWholeLine ? decoratedDone(line) : null);
  if (text === null) return null;
  // Blanks have one byte each.
  const contentEnd = released.bytes - (recent.length - inkEnd) - utf8Length(text);
  return { kind: 'near_miss', text, contentEnd };
}

/** Whether the message could end here with a marker: what a settle window waits for (R031). */
export function holdsMarker(reader: MarkerReader): boolean {
  if (reader.phase !== 'reading') return true;
  const kind = kindOfLine(reader.options, reader.partial, reader.group, true);
  if (kind === 'done' || kind === 'end_marker') return true;
  return reader.group.marker !== '' && (kind === 'blank' || kind === 'fence');
}

/** A message that is DONE alone, in the content's open line, is joined to what stands there. */
function joinedAtEnd(reader: MarkerReader, released: Released, line: string): string | null {
  const isWholeMessage = released.length === line.length && !reader.options.atLineStart;
  if (isWholeMessage && isBareDone(line)) return line;
  return joinedDone(line);
}

type LineKind = 'text' | 'blank' | 'done' | 'end_marker' | 'fence' | 'prefix';

/** Whether a line that begins at `index` must be looked at, when nothing is held. */
function mayBeSpecial(options: MarkerReaderOptions, text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  if (code === 0x44) return true;
  return options.wrappingFence !== null && (code === 0x20 || code === 0x60 || code === 0x7e);
}

function growPartial(
  partial: UndecidedLine,
  text: string,
  from: number,
  to: number,
): UndecidedLine {
  let inkEnd = to;
  while (inkEnd > from && isBlankCode(text.charCodeAt(inkEnd - 1))) inkEnd -= 1;
  if (inkEnd === from) {
    const piece = text.slice(from, to);
    const carriageReturn = piece.indexOf('\r');
    const isStray =
      (partial.endsInCarriageReturn && piece !== '') ||
      (carriageReturn !== -1 && carriageReturn < piece.length - 1);
    return {
      core: partial.core,
      blanks: partial.blanks + piece,
      endsInCarriageReturn: piece === '' ? partial.endsInCarriageReturn : piece.endsWith('\r'),
      strayCarriageReturn: partial.strayCarriageReturn || isStray,
    };
  }
  const blanks = text.slice(inkEnd, to);
  const carriageReturn = blanks.indexOf('\r');
  return {
    core: partial.core + partial.blanks + text.slice(from, inkEnd),
    blanks,
    endsInCarriageReturn: blanks.endsWith('\r'),
    strayCarriageReturn: carriageReturn !== -1 && carriageReturn < blanks.length - 1,
  };
}

function isBlankCode(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0d;
}

function isBlankOrLineFeed(code: number): boolean {
  return code === 0x0a || isBlankCode(code);
}

const OTHER_END_MARKER = /^DONE [0-9a-f]{4}$/u;
const END_MARKER_BEGUN = /^DONE [0-9a-f]{1,3}$/u;

/**
 * What a line is, or, while it is not complete, what it may become: 'text' only if it can be nothing else.
 */
function kindOfLine(
  options: MarkerReaderOptions,
  partial: UndecidedLine,
  group: Group,
  isComplete: boolean,
): LineKind {
  const { core } = partial;
  if (core === '')
    return isComplete || group !== NO_GROUP ? 'blank' : kindOfIndentation(options, partial);
  if (core.length > SPECIAL_LENGTH) return 'text';
  const code = core.charCodeAt(0);
  if (code === 0x44) {
    if (!partial.strayCarriageReturn) {
      if (core === options.endMarker) return 'end_marker';
      if (core === 'DONE' || OTHER_END_MARKER.test(core)) {
        if (!options.strict) return 'done';
        // `DONE` may still become the end marker, which no other line may.
        if (core === 'DONE' && !isComplete && mayGoOn(partial)) return 'prefix';
        return 'text';
      }
    }
    if (isComplete || partial.blanks !== '') return 'text';
    if (options.endMarker.startsWith(core) || 'DONE'.startsWith(core)) return 'prefix';
    return !options.strict && END_MARKER_BEGUN.test(core) ? 'prefix' : 'text';
  }
  if (options.wrappingFence === null && group.marker === '') return 'text';
  return kindOfFence(options, partial, group, isComplete);
}

function kindOfIndentation(options: MarkerReaderOptions, partial: UndecidedLine): LineKind {
  return options.wrappingFence !== null && /^ {0,3}$/u.test(partial.blanks) ? 'prefix' : 'text';
}

/** Whether `DONE` with these blanks can become `DONE 7f3a`. */
function mayGoOn(partial: UndecidedLine): boolean {
  return partial.blanks === '' || partial.blanks === ' ';
}

const FENCE_BEGUN = /^ {0,3}(?:`{1,2}|~{1,2})$/u;

function kindOfFence(
  options: MarkerReaderOptions,
  partial: UndecidedLine,
  group: Group,
  isComplete: boolean,
): LineKind {
  const fence = parseFenceLine(partial.core);
  if (fence === null)
    return !isComplete && partial.blanks === '' && FENCE_BEGUN.test(partial.core)
      ? 'prefix'
      : 'text';
  if (fence.info !== '') return 'text';
  if (group.marker !== '') return 'fence';
  const { wrappingFence } = options;
  if (wrappingFence === null || fence.character !== wrappingFence.character) return 'text';
  if (closesFence(wrappingFence, fence)) return 'fence';
  return !isComplete && partial.blanks === '' ? 'prefix' : 'text';
}

function closesWrapping(options: MarkerReaderOptions, lines: string): boolean {
  if (options.wrappingFence === null) return false;
  const fence = parseFenceLine(lines.split('\n', 1)[0] ?? '');
  return fence !== null && closesFence(options.wrappingFence, fence);
}

/** The group with one more complete line, which is held or, with everything before it, released. */
function withLine(
  options: MarkerReaderOptions,
  out: Output,
  group: Group,
  kind: LineKind,
  line: string,
): Group {
  switch (kind) {
    case 'done':
      return withMarker(out, group, line);
    case 'fence': {
      if (group.marker !== '' && group.fenceAfter === '') return { ...group, fenceAfter: line };
      releaseGroup(out, group);
      if (closesWrapping(options, line)) return { ...NO_GROUP, fenceBefore: line };
      out.release(line);
      return NO_GROUP;
    }
    case 'blank':
      if (group.fenceAfter !== '') return { ...group, fenceAfter: group.fenceAfter + line };
      if (group.marker !== '')
        return { ...group, blanksAfterMarker: group.blanksAfterMarker + line };
      if (group.fenceBefore !== '') return { ...group, fenceBefore: group.fenceBefore + line };
      out.release(line);
      return NO_GROUP;
    case 'end_marker':
    case 'prefix':
    case 'text':
      releaseGroup(out, group);
      out.release(line);
      return NO_GROUP;
  }
}

function withMarker(out: Output, group: Group, line: string): Group {
  if (group.marker === '') return { ...group, marker: line };
  // A message of nothing but markers says one thing, however often.
  if (!out.hasInk() && group.fenceAfter === '' && group.fenceBefore === '')
    return {
      ...group,
      marker: group.marker + group.blanksAfterMarker + line,
      blanksAfterMarker: '',
    };
  return { ...NO_GROUP, fenceBefore: releaseUpToFence(out, group), marker: line };
}

function withEndMarker(out: Output, group: Group): Group {
  if (group.marker === '') return group;
  return { ...NO_GROUP, fenceBefore: releaseUpToFence(out, group) };
}

/** A DONE that another marker follows is content; a fence after it now stands before that marker. */
function releaseUpToFence(out: Output, group: Group): string {
  releaseGroup(out, { ...group, fenceAfter: '' });
  return group.fenceAfter;
}

function releaseGroup(out: Output, group: Group): void {
  if (group === NO_GROUP) return;
  out.release(group.fenceBefore);
  let from = 0;
  while (from < group.marker.length) {
    const lineEnd = group.marker.indexOf('\n', from);
    const to = lineEnd === -1 ? group.marker.length : lineEnd + 1;
    const line = group.marker.slice(from, to);
    if (isBlankLine(trimLineFeed(line))) out.release(line);
    else out.releaseDone(line);
    from = to;
  }
  out.release(group.blanksAfterMarker);
  out.release(group.fenceAfter);
}

function trimLineFeed(line: string): string {
  return line.endsWith('\n') ? line.slice(0, -1) : line;
}

/** What stands after the DONE that is held, or null if that makes the DONE content. */
function afterMarker(
  reader: MarkerReader,
  group: Group,
  fences: FencesAtEnd,
): { readonly setAside: string; readonly content: string } | null {
  const after = reader.phase === 'remainder' ? reader.remainder : group.fenceAfter;
  const start = /^(?:[ \t\r]*\n)*/u.exec(after)?.[0].length ?? 0;
  if (isBlankText(after)) return { setAside: '', content: '' };
  const lineEnd = after.indexOf('\n', start);
  const line = lineEnd === -1 ? after.slice(start) : after.slice(start, lineEnd + 1);
  const fence = isBlankText(after.slice(start + line.length))
    ? parseFenceLine(trimLineFeed(line))
    : null;
  if (fence !== null && closesWrapping(reader.options, line) && fences.open.length === 0)
    return { setAside: after.slice(start), content: '' };
  // The content keeps both fences, so that the fence decision sees them (R033).
  if (fence !== null && fences.enclosing !== null && closesFence(fences.enclosing, fence))
    return { setAside: '', content: line };
  return reader.phase === 'remainder' ? { setAside: after, content: '' } : null;
}

function isBlankText(text: string): boolean {
  return !/[^ \t\r\n]/u.test(text);
}

type Output = {
  readonly release: (text: string) => void;
  /** A line that is a bare DONE and now content. */
  readonly releaseDone: (line: string) => void;
  readonly hasInk: () => boolean;
  readonly content: () => string;
  readonly state: () => Released;
  /** The state at the end of the message, where the line after a DONE is complete as it is. */
  readonly finish: () => Released;
};

/** Collects one call's content and counts it; local to that call. */
function createOutput(before: Released): Output {
  let content = '';
  let { bytes, lineFeeds, endsInHighSurrogate, hasInk, length, recent } = before;
  let { innerDoneLines, hasInnerDone, lastInner, lastChatInner, watch } = before;

  const closeWatch = (): void => {
    if (watch === null) return;
    const candidate: EndCandidate = {
      line: watch.line,
      contentEnd: watch.contentEnd,
      following: firstWords(watch.text),
    };
    lastInner = [candidate, ...lastInner].slice(0, CANDIDATES);
    if (!watch.isLong && isChatLine(watch.text))
      lastChatInner = [candidate, ...lastChatInner].slice(0, CANDIDATES);
    watch = null;
  };

  const observe = (text: string): void => {
    let from = 0;
    while (watch !== null && from < text.length) {
      const lineEnd = text.indexOf('\n', from);
      const to = lineEnd === -1 ? text.length : lineEnd;
      const room = Math.min(to - from, WATCH_LENGTH - watch.text.length);
      const kept = watch.text + text.slice(from, from + room);
      const isLong = watch.isLong || !isBlankLine(text.slice(from + room, to));
      watch = { ...watch, text: kept, isLong };
      if (lineEnd === -1) return;
      if (isBlankLine(kept) && !isLong) watch = { ...watch, text: '' };
      else closeWatch();
      from = lineEnd + 1;
    }
  };

  const release = (text: string): void => {
    if (text === '') return;
    content += text;
    if (watch !== null) observe(text);
    bytes += utf8Length(text);
    // A pair has four bytes, its halves counted apart have three each.
    if (endsInHighSurrogate && isLowSurrogate(text.charCodeAt(0))) bytes -= 2;
    endsInHighSurrogate = isHighSurrogate(text.charCodeAt(text.length - 1));
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lineFeeds += 1;
    hasInk ||= !isBlankText(text);
    length += text.length;
    recent += text;
    // Not held for long, as in `ContentTail`.
    if (recent.length >= 2 * RECENT_LENGTH) recent = recent.slice(-RECENT_LENGTH);
  };

  const state = (): Released => ({
    bytes,
    lineFeeds,
    endsInHighSurrogate,
    hasInk,
    length,
    recent,
    innerDoneLines,
    hasInnerDone,
    lastInner,
    lastChatInner,
    watch,
  });

  return {
    release,
    releaseDone: (line) => {
      closeWatch();
      const number = lineFeeds + 1;
      const contentEnd = bytes;
      hasInnerDone = true;
      if (innerDoneLines.length < INNER_DONE_LIMIT) innerDoneLines = [...innerDoneLines, number];
      release(line);
      watch = { line: number, contentEnd, text: '', isLong: false };
    },
    hasInk: () => hasInk,
    content: () => content,
    state,
    finish: () => {
      closeWatch();
      return state();
    },
  };
}

/** Enough of a line to recognise it by, cut between characters. */
function firstWords(line: string): string {
  const characters = [...trimLine(line).trim()];
  if (characters.length <= FOLLOWING_LENGTH) return characters.join('');
  return `${characters.slice(0, FOLLOWING_LENGTH - 1).join('')}…`;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
