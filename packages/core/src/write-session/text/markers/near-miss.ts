/**
 * Finds lines that may be meant as `DONE`, and remarks to the reader of the message (R021, R296).
 *
 * Invariants
 * N1  A near miss is content until the model says otherwise; nothing is removed here.
 * N2  A near miss is always the end of a line, so that the content before it can be kept.
 * N3  A longer word, and a sentence on its own line that ends in DONE, are not near misses.
 */
import { withoutTags, withoutTokensAtEnd } from '../chat-tokens.ts';
import { closesFence, isChatLine, parseFenceLine, stripIndentation, trimLine } from '../lines.ts';
import type { FenceLine } from '../lines.ts';
import { opensLikeClosingRemark } from '../talk-phrases.ts';

/** Characters on either side of a decorated `DONE`: enough for `### **DONE** ###`, too few for a ruled line. */
const DECORATION_LIMIT = 8;
/** On either side of a `Done`, which ordinary sentences contain, too. */
const CAPITALISED_LIMIT = 4;

/** Tested one character at a time: a quantified class of thousands of ranges would compile into megabytes. */
const LETTER_OR_NUMBER = /[\p{L}\p{N}]/u;
const LETTER = /\p{L}/u;
/** The token of a marker, also as models misspell it: `DONE 7F3A`, `DONE: 7f3a`, `DONE7f3a`. */
const MARKER_TOKEN = /^:? ?[0-9a-f]{4}(?![\p{L}\p{N}])/iu;
/** The markers before the last one of a line that repeats it, such as `DONE DONE`. */
const REPEATED = /(?:DONE(?: [0-9a-f]{4})?[ \t.,!*_`]*)+(?=DONE)/u;
const BARE = /^DONE(?: [0-9a-f]{4})?$/u;
/** Few, so that a line of thousands is not looked at from each of them. */
const MARKERS = 'DONE(?: [0-9a-fA-F]{4})?(?:[ \\t]*DONE(?: [0-9a-fA-F]{4})?){0,8}';
const JOINED = new RegExp(`[^ \\t\\r\\n](?<!DONE)(${MARKERS})$`, 'u');
/** After blanks, which belong to it. */
const APART = new RegExp(`[^ \\t\\r\\n]([ \\t]+${MARKERS})$`, 'u');

export type LastLine = {
  /** Without trailing blanks; of a long line only the end. */
  readonly text: string;
  /** Whether that is all of it. */
  readonly isWhole: boolean;
  /** Whether an LF follows. */
  readonly isTerminated: boolean;
  /** Whether the line before it is blank. */
  readonly isParagraph: boolean;
  /** Whether a line `done` would close a shell loop of the content. */
  readonly closesLoop: boolean;
  /** The innermost fence of the content that is open before the line. */
  readonly openFence: FenceLine | null;
};

/**
 * The end of the last non-blank line, if it may not belong to the file. On an unterminated line the text before a DONE
 * stays in the file if it is more than decoration; otherwise the near miss is the whole line with its indentation. Tokens
 * of a chat template at the end are one, too, with what stands before them.
 */
export function nearMissOf(line: LastLine): string | null {
  const found = nearMissIn(line);
  const text = found === null ? withoutTokensAtEnd(line.text) : line.text;
  if (text === line.text) return found;
  const before = nearMissIn({ ...line, text, isTerminated: false });
  return line.text.slice(text.length - (before ?? '').length);
}

function nearMissIn(line: LastLine): string | null {
  const joined = line.isTerminated ? null : joinedDone(line.text);
  const whole = line.isWhole ? wholeNearMiss(line) : null;
  const apart = line.isTerminated ? null : (APART.exec(line.text)?.[1] ?? null);
  if (apart !== null && closesOpenFence(line, line.text.length - apart.length)) return apart;
  return joined ?? whole ?? apart;
}

/** A fence before a DONE looks like decoration, unless it closes a fence of the content. */
function closesOpenFence({ text, isWhole, openFence }: LastLine, end: number): boolean {
  const fence = isWhole ? parseFenceLine(text.slice(0, end)) : null;
  return openFence !== null && fence !== null && closesFence(openFence, fence);
}

function wholeNearMiss({ text, isParagraph, closesLoop }: LastLine): string | null {
  if (text === 'done') return closesLoop ? null : text;
  return decoratedDone(text) ?? (isParagraph && isClosingRemark(text) ? text : null);
}

/** Whether a last paragraph of one line talks about the file to its reader. */
export function isClosingRemark(line: string): boolean {
  return isChatLine(line) && opensLikeClosingRemark(line.replace(/^[*_]+/u, ''));
}

/** Takes a whole line. */
function decoratedDone(line: string): string | null {
  const trimmed = trimLine(line);
  // Most lines return here: a decorated DONE is short, except for its indentation.
  const text = stripIndentation(trimmed).replace(REPEATED, '');
  if (text.length > 2 * (2 * DECORATION_LIMIT) + 9) return null;
  if (BARE.test(trimmed)) return null;
  if (BARE.test(trimLine(withoutTags(text)))) return trimmed;
  return isDecorated(text) || isCapitalised(text) ? trimmed : null;
}

function isDecorated(text: string): boolean {
  const at = text.indexOf('DONE');
  if (at === -1) return false;
  const after = text.slice(at + 'DONE'.length);
  return (
    isDecoration(text.slice(0, at), LETTER_OR_NUMBER, DECORATION_LIMIT) &&
    [after, after.replace(MARKER_TOKEN, '')].some((end) =>
      isDecoration(end, LETTER_OR_NUMBER, DECORATION_LIMIT),
    )
  );
}

function isCapitalised(text: string): boolean {
  const at = text.indexOf('Done');
  return (
    at !== -1 &&
    isDecoration(text.slice(0, at), LETTER, CAPITALISED_LIMIT) &&
    isDecoration(text.slice(at + 'Done'.length), LETTER, CAPITALISED_LIMIT)
  );
}

function isDecoration(text: string, forbidden: RegExp, limit: number): boolean {
  return [...text].length <= limit && !forbidden.test(text);
}

/** Takes the end of a line without LF, whatever the line begins with. */
function joinedDone(lineEnd: string): string | null {
  return JOINED.exec(lineEnd)?.[1] ?? null;
}

/** Whether the line is a marker, of this session or another. */
export function isBareDone(line: string): boolean {
  return BARE.test(line);
}
