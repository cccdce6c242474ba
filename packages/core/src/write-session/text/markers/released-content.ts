/**
 * The content that one message has given, counted while it is released.
 *
 * Invariants
 * R1  What is known depends on the released text alone, not on how it was divided.
 * R2  Its size is bounded, whatever the length of the content or of one line.
 */
import { isBlankText, isHighSurrogate, isLowSurrogate } from '@orion/contracts';
import type { EndCandidate } from '@orion/contracts';
import { DONE_ONCE_MORE } from './inner-done.ts';
import { isBlankLine, isChatLine, trimLine } from '../lines.ts';

/** The first so many are listed: a receipt names lines, it does not repeat a log. */
export const INNER_DONE_LIMIT = 1_000;

const CANDIDATES = 2;
/** Code units of the line after a DONE that are looked at; a chat line is shorter. */
const WATCH_LENGTH = 400;
const FOLLOWING_LENGTH = 80;
/** The end of the content in which a near miss is looked for. */
export const RECENT_LENGTH = 4_096;

/** What is known of the content that this message has given. */
export type Released = {
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
  /** At its end, bare DONE lines with only blank lines between and behind them: the last and the first. */
  readonly doubledDone: readonly EndCandidate[];
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

export type Output = {
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
export function createOutput(before: Released): Output {
  let content = '';
  let { bytes, lineFeeds, endsInHighSurrogate, hasInk, length, recent } = before;
  let { innerDoneLines, hasInnerDone, lastInner, lastChatInner, doubledDone, watch } = before;

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
    doubledDone =
      watch.isLong || !isBlankLine(watch.text)
        ? []
        : [{ ...candidate, following: DONE_ONCE_MORE }, ...doubledDone.slice(-1)];
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
    bytes += Buffer.byteLength(text);
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
    doubledDone,
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
