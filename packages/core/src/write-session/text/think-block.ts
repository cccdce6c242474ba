/**
 * Separates the reasoning that a model writes into its text, between `<think>` and `</think>`, from the text (R275).
 *
 * Invariants
 * K1  Only a block that opens the message counts, except for blanks before it: anywhere else the tags are text. Where
 *     the template of a model opens the block, and no tag does, it ends with the first closing tag of the message.
 * K2  `block` and `text` in order are the message: nothing is added, nothing is lost.
 * K3  The blank lines after the block belong to it; the indentation of the first line after them does not.
 * K4  Block, text and outcome do not depend on how the message was divided. Memory is bounded.
 */
import { inkStartOf } from '@orion/contracts';

export type ThinkReader =
  /** `held`: the possible beginning of a tag. */
  | { readonly phase: 'before'; readonly held: string; readonly mayBeOpened: boolean }
  | { readonly phase: 'inside'; readonly held: string }
  /** `held`: all of the message, which is text unless a closing tag comes; `tagStart`: the beginning of one at its end. */
  | { readonly phase: 'unopened'; readonly held: string; readonly tagStart: string }
  /** `held`: the indentation of the first line; `isNewLine`: whether a line ending has followed the block. */
  | { readonly phase: 'between'; readonly held: string; readonly isNewLine: boolean }
  | { readonly phase: 'behind' | 'none' };

export type ThinkPart = {
  readonly reader: ThinkReader;
  readonly block: string;
  readonly text: string;
};

const OPEN = '<think>';
const CLOSE = '</think>';
/** More blanks than this before a tag or the first line are text. */
const HELD_LIMIT = 4_096;
/** More than this without a closing tag is text, also of a model whose template opens the block. */
const UNOPENED_LIMIT = 64 * 1024;

/** `mayBeOpened`: the template of the model may have opened a block before the message. */
export function createThinkReader(mayBeOpened: boolean): ThinkReader {
  return { phase: 'before', held: '', mayBeOpened };
}

/** Whether the first non-blank line begins a block. */
export function opensThinkBlock(line: string): boolean {
  return line.startsWith(OPEN, inkStartOf(line));
}

/** Whether a line ends with the closing tag; text stands before it where the template of a model opens the block. */
export function endsThinkBlock(line: string): boolean {
  return line.endsWith(CLOSE);
}

export function holdsThinkTag(line: string): boolean {
  return line.includes(OPEN);
}

export function holdsThinkEnd(text: string): boolean {
  return text.includes(CLOSE);
}

export function readThink(reader: ThinkReader, text: string): ThinkPart {
  switch (reader.phase) {
    case 'before':
      return readBefore(reader.held + text, reader.mayBeOpened);
    case 'inside':
      return readInside(reader.held + text);
    case 'unopened':
      return readUnopened(reader.held, reader.tagStart, text);
    case 'between':
      return readBetween(reader.held, reader.isNewLine, text);
    case 'behind':
    case 'none':
      return { reader, block: '', text };
    default:
      return reader satisfies never;
  }
}

/** For the end of the message. A block without a closing tag, or without text after it, is still `block`. */
export function endThink(reader: ThinkReader): { readonly block: string; readonly text: string } {
  switch (reader.phase) {
    case 'before':
    case 'unopened':
      return { block: '', text: reader.held };
    case 'inside':
    case 'between':
      return { block: reader.held, text: '' };
    case 'behind':
    case 'none':
      return { block: '', text: '' };
    default:
      return reader satisfies never;
  }
}

function readBefore(held: string, mayBeOpened: boolean): ThinkPart {
  const start = inkStartOf(held);
  const isLong = start > HELD_LIMIT;
  if (!isLong && held.startsWith(OPEN, start)) {
    const end = start + OPEN.length;
    const inside = readInside(held.slice(end));
    return { ...inside, block: held.slice(0, end) + inside.block };
  }
  if (!isLong && OPEN.startsWith(held.slice(start)))
    return { reader: { phase: 'before', held, mayBeOpened }, block: '', text: '' };
  return mayBeOpened
    ? readUnopened('', '', held)
    : { reader: { phase: 'none' }, block: '', text: held };
}

function readInside(held: string): ThinkPart {
  const close = held.indexOf(CLOSE);
  if (close !== -1) return readClosed(held, close + CLOSE.length);
  const safe = held.length - tagBegun(held);
  const reader = { phase: 'inside', held: held.slice(safe) } as const;
  return { reader, block: held.slice(0, safe), text: '' };
}

/** Looks at what is new alone: looking at all of `held` each time would take the square of its length. */
function readUnopened(before: string, tagStart: string, text: string): ThinkPart {
  const fresh = tagStart + text;
  const held = before + text;
  const close = fresh.indexOf(CLOSE);
  const end = held.length - fresh.length + close + CLOSE.length;
  if (close !== -1 && end <= UNOPENED_LIMIT) return readClosed(held, end);
  if (held.length > UNOPENED_LIMIT) return { reader: { phase: 'none' }, block: '', text: held };
  const begun = fresh.slice(fresh.length - tagBegun(fresh));
  return { reader: { phase: 'unopened', held, tagStart: begun }, block: '', text: '' };
}

/** `end`: of the closing tag. */
function readClosed(held: string, end: number): ThinkPart {
  const between = readBetween('', false, held.slice(end));
  return { ...between, block: held.slice(0, end) + between.block };
}

/** The length of the end of `text` that may be the beginning of the closing tag. */
function tagBegun(text: string): number {
  let length = Math.min(CLOSE.length - 1, text.length);
  while (!text.endsWith(CLOSE.slice(0, length))) length -= 1;
  return length;
}

function readBetween(before: string, isBehindNewLine: boolean, text: string): ThinkPart {
  const blanks = inkStartOf(text);
  const lineStart = text.lastIndexOf('\n', blanks - 1) + 1;
  const hasLineEnd = lineStart > 0;
  const held = (hasLineEnd ? '' : before) + text.slice(lineStart, blanks);
  const block = hasLineEnd ? before + text.slice(0, lineStart) : '';
  // Blanks after the tag, on the same line, are not indentation.
  const isIndentation = (hasLineEnd || isBehindNewLine) && held.length <= HELD_LIMIT;
  if (blanks < text.length)
    return {
      reader: { phase: 'behind' },
      block: isIndentation ? block : block + held,
      text: (isIndentation ? held : '') + text.slice(blanks),
    };
  return isIndentation
    ? { reader: { phase: 'between', held, isNewLine: true }, block, text: '' }
    : { reader: { phase: 'between', held: '', isNewLine: false }, block: block + held, text: '' };
}
