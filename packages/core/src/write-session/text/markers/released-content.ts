/**
 * Counts the content of one message while it is released.
 *
 * Invariants
 * R1  The facts depend on the released text alone, not on how it was divided.
 * R2  Its size is bounded, whatever the length of the content or of one line.
 */
import { isBlankText, isHighSurrogate, isLowSurrogate } from '@orion/contracts';
import type { EndCandidate } from '@orion/contracts';
import { DONE_ONCE_MORE } from './inner-done.ts';
import { isBlankLine, isChatLine, trimLine } from '../lines.ts';

/** How many lines are listed: a receipt must not repeat a whole log. */
export const INNER_DONE_LIMIT = 1_000;

const CANDIDATES = 2;
/** Code units of the line after a DONE that are examined; a chat line is shorter. */
const WATCH_LENGTH = 400;
const FOLLOWING_LENGTH = 80;
/** Length of the end of the content in which a near miss is searched for. */
export const RECENT_LENGTH = 4_096;

/** Facts about the content from this message. */
export type Released = {
  readonly bytes: number;
  readonly lineFeeds: number;
  readonly endsInHighSurrogate: boolean;
  /** Whether any of it is not blank. */
  readonly hasInk: boolean;
  /** Its length in code units, and its last characters. */
  readonly length: number;
  readonly recent: string;
  readonly innerDoneLines: readonly number[];
  /** The last bare DONE lines in it, and the last of those that a chat line follows. */
  readonly lastInner: readonly EndCandidate[];
  readonly lastChatInner: readonly EndCandidate[];
  /** Bare DONE lines at its end with only blank lines between and after them: the last and the first. */
  readonly doubledDone: readonly EndCandidate[];
  /** The latest DONE, until the line after it is complete. */
  readonly watch: Watch | null;
};

type Watch = {
  readonly line: number;
  readonly contentEnd: number;
  readonly text: string;
  /** Whether non-blank text has come beyond `WATCH_LENGTH`. */
  readonly isLong: boolean;
};

export type Output = {
  readonly release: (text: string) => void;
  /** Releases a line that is a bare DONE. */
  readonly releaseDone: (line: string) => void;
  readonly hasInk: () => boolean;
  readonly content: () => string;
  readonly state: () => Released;
  /** The state at the end of the message, which also completes the line after a DONE. */
  readonly finish: () => Released;
};

/** Collects and counts the content of one call; must not outlive the call. */
export function createOutput(before: Released): Output {
  let content = '';
  const now: { -readonly [Key in keyof Released]: Released[Key] } = { ...before };

  const closeWatch = (): void => {
    const { watch } = now;
    if (watch === null) return;
    const { line, contentEnd, text, isLong } = watch;
    const candidate: EndCandidate = { line, contentEnd, following: firstWords(text) };
    now.lastInner = [candidate, ...now.lastInner].slice(0, CANDIDATES);
    if (!isLong && isChatLine(text))
      now.lastChatInner = [candidate, ...now.lastChatInner].slice(0, CANDIDATES);
    now.doubledDone =
      isLong || !isBlankLine(text)
        ? []
        : [{ ...candidate, following: DONE_ONCE_MORE }, ...now.doubledDone.slice(-1)];
    now.watch = null;
  };

  const observe = (text: string): void => {
    let from = 0;
    while (now.watch !== null && from < text.length) {
      const { watch } = now;
      const lineEnd = text.indexOf('\n', from);
      const to = lineEnd === -1 ? text.length : lineEnd;
      const room = Math.min(to - from, WATCH_LENGTH - watch.text.length);
      const kept = watch.text + text.slice(from, from + room);
      const isLong = watch.isLong || !isBlankLine(text.slice(from + room, to));
      now.watch = { ...watch, text: kept, isLong };
      if (lineEnd === -1) return;
      if (isBlankLine(kept) && !isLong) now.watch = { ...watch, isLong, text: '' };
      else closeWatch();
      from = lineEnd + 1;
    }
  };

  const release = (text: string): void => {
    if (text === '') return;
    content += text;
    observe(text);
    now.bytes += Buffer.byteLength(text);
    // A pair has four bytes; its halves were counted with three each.
    if (now.endsInHighSurrogate && isLowSurrogate(text.charCodeAt(0))) now.bytes -= 2;
    now.endsInHighSurrogate = isHighSurrogate(text.charCodeAt(text.length - 1));
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1))
      now.lineFeeds += 1;
    now.hasInk ||= !isBlankText(text);
    now.length += text.length;
    now.recent += text;
    // Strings must not be kept for long: see `ContentTail`.
    if (now.recent.length >= 2 * RECENT_LENGTH) now.recent = now.recent.slice(-RECENT_LENGTH);
  };

  return {
    release,
    releaseDone: (done) => {
      closeWatch();
      const line = now.lineFeeds + 1;
      const contentEnd = now.bytes;
      if (now.innerDoneLines.length < INNER_DONE_LIMIT)
        now.innerDoneLines = [...now.innerDoneLines, line];
      release(done);
      now.watch = { line, contentEnd, text: '', isLong: false };
    },
    hasInk: () => now.hasInk,
    content: () => content,
    state: () => ({ ...now }),
    finish: () => {
      closeWatch();
      return { ...now };
    },
  };
}

/** The beginning of a line, enough to recognise it, cut between characters. */
function firstWords(line: string): string {
  const characters = [...trimLine(line).trim()];
  if (characters.length <= FOLLOWING_LENGTH) return characters.join('');
  return `${characters.slice(0, FOLLOWING_LENGTH - 1).join('')}…`;
}
