import {
  endsThinkBlock,
  holdsThinkTag,
  opensCommonBlock,
  textBehindThinkEnd,
} from './think-block.ts';
import { closesFence, parseFenceLine, trimLine, type FenceLine } from './lines.ts';

/** Code units of a line that the ledger keeps; a longer line is not a fence. */
export const LINE_MARK_LENGTH = 400;

const FIRST_LINES = 6;
const LAST_LINES = 5;
const FIRST_FENCES = 4;
const OPEN_FENCES = 8;

/** The positions of fence lines, as byte offsets into the content. */
export type FenceLedger = {
  /** The first non-blank lines, at most 6, each trimmed and cut to 400 characters. */
  readonly firstLines: readonly LineMark[];
  /** The last non-blank lines that are complete, at most 5, oldest first. */
  readonly lastLines: readonly LineMark[];
  /** The first fence lines, at most 4. */
  readonly firstFences: readonly FenceMark[];
  readonly lastFence: FenceMark | null;
  /** A line before the first closing one holds the opening tag of a think block. */
  readonly opensThinking: boolean;
  /** The first line up to the closing tag of a block that no line opened, and the start of the text after it. */
  readonly behindThinking: { readonly text: string; readonly start: number } | null;
  readonly fenceCount: number;
  /** The fences that are open after the last complete line, outermost first, at most 8 deep. */
  readonly open: readonly FenceMark[];
  /** How many more are open, nested deeper than `open` lists. */
  readonly openBeyond: number;
  /** How often an outermost fence has been closed. */
  readonly closedCount: number;
};

export type LineMark = {
  /** Counted from 1. */
  readonly line: number;
  readonly start: number;
  /** After its LF. */
  readonly end: number;
  readonly text: string;
  readonly fence: FenceLine | null;
};

export type FenceMark = LineMark & { readonly fence: FenceLine };

export const NO_FENCES: FenceLedger = {
  firstLines: [],
  lastLines: [],
  firstFences: [],
  lastFence: null,
  opensThinking: false,
  behindThinking: null,
  fenceCount: 0,
  open: [],
  openBeyond: 0,
  closedCount: 0,
};

type FenceDraft = {
  -readonly [Key in keyof FenceLedger]: FenceLedger[Key] extends readonly (infer Item)[]
    ? Item[]
    : FenceLedger[Key];
};

export function fenceDraftOf(ledger: FenceLedger): FenceDraft {
  return {
    ...ledger,
    firstLines: [...ledger.firstLines],
    lastLines: [...ledger.lastLines],
    firstFences: [...ledger.firstFences],
    open: [...ledger.open],
  };
}

export function ledgerOf(draft: FenceDraft): FenceLedger {
  if (draft.lastLines.length <= LAST_LINES) return draft;
  return { ...draft, lastLines: draft.lastLines.slice(-LAST_LINES) };
}

export function lineMark(
  mark: { readonly head: string; readonly inkLength: number },
  line: number,
  start: number,
  end: number,
): LineMark {
  const text = trimLine(mark.head);
  const fence = mark.inkLength <= LINE_MARK_LENGTH ? fenceOf(text) : null;
  return { line, start, end, text, fence };
}

export function noteLine(draft: FenceDraft, mark: LineMark): void {
  if (draft.firstLines.length < FIRST_LINES) draft.firstLines.push(mark);
  const before = draft.lastLines.at(-1);
  const isAskedAbout = draft.firstLines[0] === mark && opensCommonBlock(mark.text);
  draft.opensThinking ||= !isAskedAbout && holdsThinkTag(mark.text);
  if (draft.behindThinking === null && !draft.opensThinking)
    draft.behindThinking = behindThinking(before, mark);
  draft.lastLines.push(mark);
  if (!hasFence(mark)) return;
  draft.fenceCount += 1;
  draft.lastFence = mark;
  if (draft.firstFences.length < FIRST_FENCES) draft.firstFences.push(mark);

  const innermost = draft.open.at(-1);
  if (innermost === undefined) {
    draft.open.push(mark);
  } else if (mark.fence.info !== '') {
    // Markdown does not nest fences, but models do: a fence that names a language opens a nested one.
    if (draft.open.length < OPEN_FENCES) draft.open.push(mark);
    else draft.openBeyond += 1;
  } else if (draft.openBeyond > 0) {
    draft.openBeyond -= 1;
  } else if (closesFence(innermost.fence, mark.fence)) {
    draft.open.pop();
    if (draft.open.length === 0) draft.closedCount += 1;
  }
  // A fence of another kind, or a shorter one, is text within the innermost.
}

function behindThinking(
  before: LineMark | undefined,
  { text, start }: LineMark,
): FenceLedger['behindThinking'] {
  if (before !== undefined && endsThinkBlock(before.text)) return { text: before.text, start };
  const end = textBehindThinkEnd(text);
  if (end === null) return null;
  const reasoning = text.slice(0, end);
  return { text: reasoning, start: start + Buffer.byteLength(reasoning) };
}

function hasFence(mark: LineMark): mark is FenceMark {
  return mark.fence !== null;
}

/** `parseFenceLine`, but for nearly every line it only looks at the first characters. */
function fenceOf(line: string): FenceLine | null {
  let start = 0;
  while (start < 3 && line.charCodeAt(start) === 0x20) start += 1;
  const code = line.charCodeAt(start);
  return code === 0x60 || code === 0x7e ? parseFenceLine(line) : null;
}
