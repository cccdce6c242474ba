import { isTemplateLine } from '../chat-tokens.ts';
import { isBlankLine, isChatLine, parseFenceLine, trimLine } from '../lines.ts';
import type { FenceLine } from '../lines.ts';

/**
 * The text before the repetition: at most two chat lines or lines of a chat template, then one fence or echoed tag
 * (§1.4a rule 4).
 */
export type Preamble = {
  /** Unchanged, from its first non-blank line on. */
  readonly text: string;
  readonly hasBlankLine: boolean;
  readonly chatLines: number;
  readonly fence: FenceLine | null;
  readonly hasTag: boolean;
};

export const emptyPreamble: Preamble = {
  text: '',
  hasBlankLine: false,
  chatLines: 0,
  fence: null,
  hasTag: false,
};

const MAX_CHAT_LINES = 2;

/** The preamble with one more line, or null if the line cannot belong to one. */
export function extendPreamble(preamble: Preamble, line: string, tagId: string): Preamble | null {
  if (isBlankLine(line)) {
    const text = preamble.text === '' ? '' : `${preamble.text}${line}\n`;
    return { ...preamble, text, hasBlankLine: true };
  }
  if (preamble.fence !== null || preamble.hasTag) return null;
  const text = `${preamble.text}${line}\n`;
  const fence = parseFenceLine(line);
  if (fence !== null) return { ...preamble, text, fence };
  if (isOpeningTag(line, tagId)) return { ...preamble, text, hasTag: true };
  const isChat = isChatLine(line) || isTemplateLine(line);
  if (preamble.chatLines === MAX_CHAT_LINES || !isChat) return null;
  return { ...preamble, text, chatLines: preamble.chatLines + 1 };
}

/** Text that prompts contain around the saved lines. A reply that contains it repeats the prompt. */
export const CUT_OFF = 'Your message was cut off.';
export const START_WITH = 'Your next message must start with exactly';
export function isOfPrompt(line: string): boolean {
  return line.startsWith(CUT_OFF) || line.startsWith(START_WITH);
}

/**
 * The hex digits in the tags of this session's prompts, the same as in its end marker. Only tags with this id are an
 * echo of the prompt: content may contain similar tags.
 */
export function tagIdOf(endMarker: string): string {
  return endMarker.slice(endMarker.lastIndexOf(' ') + 1);
}

const TAG_NAMES = ['tail', 'end', 'start'];

function isOpeningTag(line: string, tagId: string): boolean {
  return isTag(line, '<', tagId);
}

export function isClosingTag(line: string, tagId: string): boolean {
  return isTag(line, '</', tagId);
}

/** Prompts extend the id by `x` if the quoted text contains the plain tag. */
function isTag(line: string, opening: string, tagId: string): boolean {
  const text = trimLine(line);
  if (!text.endsWith('>')) return false;
  return TAG_NAMES.some((name) => {
    const start = `${opening}${name}-${tagId}`;
    return text.startsWith(start) && /^x*>$/u.test(text.slice(start.length));
  });
}

const MARKER = /^DONE(?: [0-9a-f]{4})?$/u;

/** Whether a line can end the content, in any mode of the session (R020, R034). */
export function isMarkerLine(line: string, endMarker: string): boolean {
  const text = trimLine(line);
  return text === endMarker || MARKER.test(text);
}
