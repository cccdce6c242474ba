/**
 * Properties of lines, shared by all readers of streamed text.
 *
 * Invariants
 * L1  Only LF ends a line; a CR directly before it belongs to the line ending. Nothing else does: not a lone CR,
 *     not U+2028, U+2029 or U+0085.
 * L2  Every function is pure and takes one line without its LF.
 */
import { isBlankCode } from '@orion/contracts';

/** Whether a line contains only blanks. */
export function isBlankLine(line: string): boolean {
  return trimLine(line) === '';
}

/** The line without trailing spaces, tabs and CR: how two lines are compared. */
export function trimLine(line: string): string {
  let end = line.length;
  while (end > 0 && isBlankCode(line.charCodeAt(end - 1))) end -= 1;
  return end === line.length ? line : line.slice(0, end);
}

export function withoutCarriageReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

/** The line without leading spaces and tabs. */
export function stripIndentation(line: string): string {
  let start = 0;
  while (start < line.length) {
    const code = line.charCodeAt(start);
    if (code !== 0x20 && code !== 0x09) break;
    start += 1;
  }
  return start === 0 ? line : line.slice(start);
}

export function sameLine(left: string, right: string): boolean {
  return trimLine(left) === trimLine(right);
}

const NO_INK = /[\p{ASCII}--[\dA-Za-z]]|[\s\u0085]/gv;

/** Code units that are neither white space nor ASCII punctuation: what makes a line recognisable. */
export function inkOf(text: string): number {
  return text.replace(NO_INK, '').length;
}

const CHAT_START =
  /^(?:\p{Lu}|\p{Lt}|\p{Lo}|\p{Lm}|\p{Extended_Pictographic}|\p{Regional_Indicator}|[*_([])/u;
const CHAT_END = /[:.!…)\]：。！]$/u;

/**
 * Whether a line reads like a sentence to a person rather than like content: at most 160 characters, not
 * indented, beginning with a capital, an uncased letter, an emoji or `*_([`, ending in `: . ! … ) ]` or a
 * full-width stop.
 */
export function isChatLine(line: string): boolean {
  const text = trimLine(line);
  if (text === '' || text.length > 320) return false;
  return [...text].length <= 160 && CHAT_START.test(text) && CHAT_END.test(text);
}

/** A line that opens or closes a Markdown code fence. */
export type FenceLine = {
  readonly character: '`' | '~';
  /** At least three. */
  readonly length: number;
  /** What follows on the line, such as `python`; empty on a closing line. */
  readonly info: string;
};

// `.` and `trim` would treat a lone CR or U+2028 as a line ending (L1).
const FENCE = /^ {0,3}(?:(`{3,})([^`]*)|(~{3,})([^]*))$/u;

export function parseFenceLine(line: string): FenceLine | null {
  const match = FENCE.exec(trimLine(line));
  if (match === null) return null;
  const backticks = match[1];
  if (backticks !== undefined)
    return { character: '`', length: backticks.length, info: stripIndentation(match[2] ?? '') };
  return {
    character: '~',
    length: (match[3] ?? '').length,
    info: stripIndentation(match[4] ?? ''),
  };
}

/** Whether `line` closes the fence that `open` opened. */
export function closesFence(open: FenceLine, line: FenceLine): boolean {
  return line.character === open.character && line.length >= open.length && line.info === '';
}
