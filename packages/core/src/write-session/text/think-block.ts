/**
 * Separates the reasoning that a model writes into its text, between `<think>` and `</think>` or other tags, from the
 * text (R275).
 *
 * Invariants
 * K1  Only a block that opens the message counts, except for blanks before it: anywhere else the tags are text. Tags
 *     with which a file may begin count in replies only; at the beginning of a file they are asked about. Where the
 *     template of a model opens the block, and no tag does, it ends with the first closing tag of the message.
 * K2  `block` and `text` in order are the message: nothing is added, nothing is lost.
 * K3  The blank lines after the block belong to it; the indentation of the first line after them does not.
 * K4  Block, text and outcome do not depend on how the message was divided. Memory is bounded.
 */
import { inkStartOf } from '@orion/contracts';

/**
 * `file`: its content. `reply`: anything else. `template_reply`: the template of the model may have opened a block before
 * the reply.
 */
type Message = 'file' | 'reply' | 'template_reply';

export type ThinkReader =
  /** `held`: the possible beginning of a tag. */
  | { readonly phase: 'before'; readonly held: string; readonly of: Message }
  | { readonly phase: 'inside'; readonly held: string; readonly close: string }
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

type Tags = { readonly open: string; readonly close: string };

const named = (name: string): Tags => ({ open: `<${name}>`, close: `</${name}>` });
/** A file may begin so, too: it is asked about. In a reply it is reasoning. */
const COMMON_NAMES = ['thinking', 'thought', 'reasoning'];
const NAMES = ['think', 'seed:think', ...COMMON_NAMES];
const NAMED = NAMES.map(named);
const COMMON = COMMON_NAMES.map(named);
const TAGS: readonly Tags[] = [
  ...NAMED,
  // Magistral, Kimi and Command
  { open: '[THINK]', close: '[/THINK]' },
  { open: '◁think▷', close: '◁/think▷' },
  { open: '<|START_THINKING|>', close: '<|END_THINKING|>' },
  // gpt-oss, which writes its text into the channel `final`, and Gemma
  { open: '<|channel|>', close: 'final<|message|>' },
  { open: '<|channel>', close: '<channel|>' },
];
const FILE_TAGS = TAGS.filter(({ open }) => COMMON.every((common) => common.open !== open));
const NAMED_ENDS = NAMED.map(({ close }) => close);
const NAMED_OPENING = new RegExp(`<(?:${NAMES.join('|')})>`, 'u');
const END_BEFORE_TEXT = new RegExp(`</(?:${NAMES.join('|')})>(?=\\S)`, 'u');
/** More blanks than this before a tag or the first line are text. */
const HELD_LIMIT = 4_096;
/** More than this without a closing tag is text, also of a model whose template opens the block. */
const UNOPENED_LIMIT = 64 * 1024;

export function createThinkReader(message: Message): ThinkReader {
  return { phase: 'before', held: '', of: message };
}

/** Whether the first non-blank line begins a block. */
export function opensThinkBlock(line: string): boolean {
  const start = inkStartOf(line);
  return TAGS.some(({ open }) => line.startsWith(open, start));
}

/** Whether a line ends with the closing tag; text stands before it where the template of a model opens the block. */
export function endsThinkBlock(line: string): boolean {
  return line.endsWith('>') && NAMED_ENDS.some((close) => line.endsWith(close));
}

/** Where text follows the closing tag in a line; null in a sentence or a program about the tag, which quotes it. */
export function textBehindThinkEnd(line: string): number | null {
  const match = END_BEFORE_TEXT.exec(line);
  if (match === null || /[\s"'`(=|“‘«「]/u.test(line.charAt(match.index - 1))) return null;
  return match.index + match[0].length;
}

export function holdsThinkTag(line: string): boolean {
  return NAMED_OPENING.test(line);
}

/** Whether the first line begins a block that may belong to the file as well. */
export function opensCommonBlock(line: string): boolean {
  const start = inkStartOf(line);
  return COMMON.some(({ open }) => line.startsWith(open, start));
}

export function holdsThinkEnd(text: string): boolean {
  return NAMED_ENDS.some((close) => text.includes(close));
}

export function readThink(reader: ThinkReader, text: string): ThinkPart {
  switch (reader.phase) {
    case 'before':
      return readBefore(reader.held + text, reader.of);
    case 'inside':
      return readInside(reader.held + text, reader.close);
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

function readBefore(held: string, of: Message): ThinkPart {
  const all = of === 'file' ? FILE_TAGS : TAGS;
  const start = inkStartOf(held);
  if (start <= HELD_LIMIT) {
    const tags = all.find(({ open }) => held.startsWith(open, start));
    if (tags !== undefined) {
      const end = start + tags.open.length;
      const inside = readInside(held.slice(end), tags.close);
      return { ...inside, block: held.slice(0, end) + inside.block };
    }
    if (all.some(({ open }) => open.startsWith(held.slice(start))))
      return { reader: { phase: 'before', held, of }, block: '', text: '' };
  }
  return of === 'template_reply'
    ? readUnopened('', '', held)
    : { reader: { phase: 'none' }, block: '', text: held };
}

function readInside(held: string, close: string): ThinkPart {
  const end = endOfTag(held, [close]);
  if (end !== null) return readClosed(held, end);
  const safe = held.length - tagBegun(held, [close]);
  const reader = { phase: 'inside', held: held.slice(safe), close } as const;
  return { reader, block: held.slice(0, safe), text: '' };
}

/** Looks at what is new alone: looking at all of `held` each time would take the square of its length. */
function readUnopened(before: string, tagStart: string, text: string): ThinkPart {
  const fresh = tagStart + text;
  const held = before + text;
  const closed = endOfTag(fresh, NAMED_ENDS);
  const end = closed === null ? Infinity : held.length - fresh.length + closed;
  if (end <= UNOPENED_LIMIT) return readClosed(held, end);
  if (held.length > UNOPENED_LIMIT) return { reader: { phase: 'none' }, block: '', text: held };
  const begun = fresh.slice(fresh.length - tagBegun(fresh, NAMED_ENDS));
  return { reader: { phase: 'unopened', held, tagStart: begun }, block: '', text: '' };
}

/** `end`: of the closing tag. */
function readClosed(held: string, end: number): ThinkPart {
  const between = readBetween('', false, held.slice(end));
  return { ...between, block: held.slice(0, end) + between.block };
}

/** The end of the first of these tags that is complete; null if none is. */
function endOfTag(text: string, tags: readonly string[]): number | null {
  const ends = tags.flatMap((tag) => (text.includes(tag) ? [text.indexOf(tag) + tag.length] : []));
  return ends.length === 0 ? null : Math.min(...ends);
}

/** The length of the end of `text` that may be the beginning of one of these tags. */
function tagBegun(text: string, tags: readonly string[]): number {
  const lengths = tags.map((tag) => {
    let length = Math.min(tag.length - 1, text.length);
    while (!text.endsWith(tag.slice(0, length))) length -= 1;
    return length;
  });
  return Math.max(...lengths);
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
