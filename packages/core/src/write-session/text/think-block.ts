/**
 * Separates the reasoning that a model writes into its text, between `<think>` and `</think>`, from the text (R275).
 *
 * Invariants
 * K1  Only a block that opens the message counts, except for blanks before it: anywhere else the tags are text.
 * K2  `block` and `text` in order are the message: nothing is added, nothing is lost.
 * K3  The blank lines after the block belong to it; the indentation of the first line after them does not.
 * K4  Block, text and outcome do not depend on how the message was divided. Memory is bounded.
 */
import { inkStartOf } from '@orion/contracts';

export type ThinkReader = {
  readonly phase: 'before' | 'inside' | 'between' | 'behind' | 'none';
  /** The possible beginning of a tag, or the indentation of the first line. */
  readonly held: string;
  /** Whether a line ending has followed the block. */
  readonly isNewLine: boolean;
};

export type ThinkPart = {
  readonly reader: ThinkReader;
  readonly block: string;
  readonly text: string;
};

const OPEN = '<think>';
const CLOSE = '</think>';
/** More blanks than this before a tag or the first line are text. */
const HELD_LIMIT = 4_096;

export function createThinkReader(): ThinkReader {
  return { phase: 'before', held: '', isNewLine: false };
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

export function readThink(reader: ThinkReader, text: string): ThinkPart {
  switch (reader.phase) {
    case 'before':
      return readBefore(reader, text);
    case 'inside':
      return readInside(reader, text);
    case 'between':
      return readBetween(reader, text);
    case 'behind':
    case 'none':
      return { reader, block: '', text };
    default:
      return reader.phase satisfies never;
  }
}

/** For the end of the message. A block without a closing tag, or without text after it, is still `block`. */
export function endThink(reader: ThinkReader): { readonly block: string; readonly text: string } {
  return reader.phase === 'before'
    ? { block: '', text: reader.held }
    : { block: reader.held, text: '' };
}

function readBefore(reader: ThinkReader, text: string): ThinkPart {
  const held = reader.held + text;
  const start = inkStartOf(held);
  const isLong = start > HELD_LIMIT;
  if (!isLong && held.startsWith(OPEN, start)) {
    const end = start + OPEN.length;
    const inside = readInside({ ...reader, phase: 'inside', held: '' }, held.slice(end));
    return { ...inside, block: held.slice(0, end) + inside.block };
  }
  if (!isLong && OPEN.startsWith(held.slice(start)))
    return { reader: { ...reader, held }, block: '', text: '' };
  return { reader: { ...reader, phase: 'none', held: '' }, block: '', text: held };
}

function readInside(reader: ThinkReader, text: string): ThinkPart {
  const held = reader.held + text;
  const close = held.indexOf(CLOSE);
  if (close === -1) {
    const safe = held.length - tagBegun(held);
    return {
      reader: { ...reader, phase: 'inside', held: held.slice(safe) },
      block: held.slice(0, safe),
      text: '',
    };
  }
  const end = close + CLOSE.length;
  const between = readBetween({ phase: 'between', held: '', isNewLine: false }, held.slice(end));
  return { ...between, block: held.slice(0, end) + between.block };
}

/** The length of the end of `text` that may be the beginning of the closing tag. */
function tagBegun(text: string): number {
  let length = Math.min(CLOSE.length - 1, text.length);
  while (!text.endsWith(CLOSE.slice(0, length))) length -= 1;
  return length;
}

function readBetween(reader: ThinkReader, text: string): ThinkPart {
  const blanks = inkStartOf(text);
  const lineStart = text.lastIndexOf('\n', blanks - 1) + 1;
  const hasLineEnd = lineStart > 0;
  const held = (hasLineEnd ? '' : reader.held) + text.slice(lineStart, blanks);
  const block = hasLineEnd ? reader.held + text.slice(0, lineStart) : '';
  // Blanks after the tag, on the same line, are not indentation.
  const isIndentation = (hasLineEnd || reader.isNewLine) && held.length <= HELD_LIMIT;
  if (blanks < text.length)
    return {
      reader: { phase: 'behind', held: '', isNewLine: true },
      block: isIndentation ? block : block + held,
      text: (isIndentation ? held : '') + text.slice(blanks),
    };
  return isIndentation
    ? { reader: { ...reader, held, isNewLine: true }, block, text: '' }
    : { reader: { ...reader, held: '', isNewLine: false }, block: block + held, text: '' };
}
