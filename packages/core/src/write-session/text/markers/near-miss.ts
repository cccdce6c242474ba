/**
 * Lines that look as if `DONE` was meant, and remarks to the reader of the message (R021, R296).
 *
 * Invariants
 * N1  A near miss is content until the model says otherwise: nothing here removes anything.
 * N2  What is named as near miss is always the end of the line, so that the content before it can be kept.
 * N3  A longer word and a sentence that ends in DONE on a line of its own never are one.
 */
import { closesFence, isChatLine, parseFenceLine, stripIndentation, trimLine } from '../lines.ts';
import type { FenceLine } from '../lines.ts';
import { opensLikeClosingRemark } from '../talk-phrases.ts';

/** Characters on either side of a decorated `DONE`: enough for `### **DONE** ###`, too few for a ruled line. */
const DECORATION_LIMIT = 8;
/** On either side of a `Done`, which an ordinary sentence has too. */
const CAPITALISED_LIMIT = 4;

/** One character at a time: a class of thousands of ranges that is counted in a pattern compiles into megabytes. */
const LETTER_OR_NUMBER = /[\p{L}\p{N}]/u;
const LETTER = /\p{L}/u;
const MARKER_TOKEN = /^ [0-9a-f]{4}/u;
const BARE = /^DONE(?: [0-9a-f]{4})?$/u;
const JOINED = /[^ \t\r\n](DONE(?: [0-9a-f]{4})?)$/u;
/** Behind blanks, which go with it. */
const APART = /[^ \t\r\n]([ \t]+DONE(?: [0-9a-f]{4})?)$/u;

export type LastLine = {
  /** Without blanks at its end; of a long line the end. */
  readonly text: string;
  /** Whether that is all of it. */
  readonly isWhole: boolean;
  /** Whether an LF follows. */
  readonly isTerminated: boolean;
  /** Whether the line before it is blank. */
  readonly isParagraph: boolean;
  /** Whether a line `done` closes a loop of the content. */
  readonly closesLoop: boolean;
  /** The innermost fence that the content has open before it. */
  readonly openFence: FenceLine | null;
};

/**
 * The end of the last line that is not blank, if it may not belong to the file. On an unterminated line a DONE leaves
 * what stands before it in the file, if that is more than decoration; otherwise the whole line, decoration and indentation, goes.
 */
export function nearMissOf(line: LastLine): string | null {
  const joined = line.isTerminated ? null : joinedDone(line.text);
  const whole = line.isWhole ? wholeNearMiss(line) : null;
  const apart = line.isTerminated ? null : (APART.exec(line.text)?.[1] ?? null);
  if (apart !== null && closesOpenFence(line, line.text.length - apart.length)) return apart;
  return joined ?? whole ?? apart;
}

/** Before a DONE a fence looks like decoration, unless the content waits for it. */
function closesOpenFence({ text, isWhole, openFence }: LastLine, end: number): boolean {
  const fence = isWhole ? parseFenceLine(text.slice(0, end)) : null;
  return openFence !== null && fence !== null && closesFence(openFence, fence);
}

function wholeNearMiss({ text, isParagraph, closesLoop }: LastLine): string | null {
  if (text === 'done') return closesLoop ? null : text;
  return decoratedDone(text) ?? (isParagraph && isClosingRemark(text) ? text : null);
}

/** A last paragraph of one line that speaks of the file to its reader. */
export function isClosingRemark(line: string): boolean {
  return isChatLine(line) && opensLikeClosingRemark(line.replace(/^[*_]+/u, ''));
}

/** Such as `</s>`, `<|im_end|>` or `<answer>`: from chat templates, and from models that put answers into tags. */
const TAG = /<[|/]?[A-Za-z][\w-]{0,15}[|/]?>/gu;

/** For a whole line. */
function decoratedDone(line: string): string | null {
  const trimmed = trimLine(line);
  // Most lines end here: a decorated DONE is short but for its indentation.
  const text = stripIndentation(trimmed);
  if (text.length > 2 * (2 * DECORATION_LIMIT) + 9) return null;
  if (BARE.test(trimmed)) return null;
  if (BARE.test(trimLine(text.replaceAll(TAG, '')))) return trimmed;
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

/** For the end of a line without LF, whatever it begins with. */
function joinedDone(lineEnd: string): string | null {
  return JOINED.exec(lineEnd)?.[1] ?? null;
}

/** Whether the line is a marker as it stands, of this session or another. */
export function isBareDone(line: string): boolean {
  return BARE.test(line);
}
