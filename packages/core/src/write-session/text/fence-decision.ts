/**
 * Decides whether fences wrap the file or belong to it (R032, R033).
 *
 * Invariants
 * F1  Fences are stripped without a question only if no other reading is possible.
 * F2  Offsets are bytes into the content; the line ending before a closing fence belongs to the file.
 * F3  A decision that would leave only blanks is never made without a question.
 */
import { wholeFenceLedger, type ContentSummary } from './content-summary.ts';
import type { FenceLedger, FenceMark, LineMark } from './fence-ledger.ts';
import { leadOf } from './leads.ts';
import { isChatLine, type FenceLine } from './lines.ts';
import { isNamedAsCode } from './target-kind.ts';
import type { TargetKind } from './target-kind.ts';

export type FencePolicy = 'auto' | 'never';

export type FenceDecision =
  | { readonly kind: 'keep' }
  | { readonly kind: 'strip'; readonly contentStart: number; readonly contentEnd: number }
  | {
      readonly kind: 'question';
      readonly contentStart: number;
      readonly contentEnd: number;
      readonly firstLine: string;
      readonly lastLine: string;
    };

/** The fences at the end of a message. */
export type FencesAtEnd = {
  /** The open fences of the content, outermost first. */
  readonly open: readonly FenceLine[];
  /** The only open fence, if it contains all of the content and the target allows the file to end there (R033). */
  readonly enclosing: FenceLine | null;
  /**
   * Whether the innermost fence contains at most one line yet, which may be the DONE. A line that closes a nested fence
   * looks the same.
   */
  readonly isFresh: boolean;
};

export const noFences: FencesAtEnd = { open: [], enclosing: null, isFresh: false };

const CHAT_BEFORE = 2;
const CHAT_AFTER = 3;
const KEEP: FenceDecision = { kind: 'keep' };

export function decideFences(
  summary: ContentSummary,
  kind: TargetKind,
  policy: FencePolicy,
  target: string,
): FenceDecision {
  if (policy === 'never') return KEEP;
  const ledger = wholeFenceLedger(summary);
  const first = ledger.firstLines[0];
  const last = ledger.lastLines.at(-1);
  const opening = ledger.firstFences[0];
  if (first === undefined || last === undefined || opening === undefined) return KEEP;

  const startsWithFence = opening.line === first.line;
  const closing = ledger.lastFence;
  const endsWithFence =
    closing !== null && closing.line === last.line && closing.line !== opening.line;
  // The first fence stays open until the last one closes it, so all fences between them are paired.
  const closesOnce = ledger.closedCount === 1 && ledger.open.length === 0;
  const chatBefore = chatLinesBefore(ledger, opening);
  // A fence after a lead is announced, whatever fences mean in this kind of target (R271).
  const lead = leadOf(ledger, { kind, target });
  const isAnnounced = lead !== null && ledger.firstLines[lead.lines]?.line === opening.line;

  if (closing !== null && closesOnce) {
    const inner = { contentStart: opening.end, contentEnd: closing.start };
    const holdsText = closing.line - opening.line > 1 && !isNextLine(ledger, opening, closing);
    const wraps = startsWithFence && endsWithFence;
    const chatAfter = chatLinesAfter(ledger, closing);
    const wrapsWithChat =
      chatBefore !== null &&
      chatBefore <= CHAT_BEFORE &&
      chatAfter !== null &&
      chatAfter <= CHAT_AFTER;
    // In a file whose name does not say what it is, lines around one block may be text around a listing.
    const isChat = isAnnounced || isNamedAsCode(target);
    const strip =
      holdsText &&
      ((kind === 'code' && (wraps || (wrapsWithChat && isChat && ledger.fenceCount === 2))) ||
        (kind === 'markdown' && wraps && isMarkdownInfo(opening.fence.info)));
    if (strip) return { kind: 'strip', ...inner };

    const asks =
      wraps ||
      (isAnnounced && (endsWithFence || (isMarkdownInfo(opening.fence.info) && wrapsWithChat))) ||
      (wrapsWithChat &&
        (kind === 'code' ||
          (endsWithFence && (kind === 'prose' || isMarkdownInfo(opening.fence.info)))));
    if (asks)
      return { kind: 'question', ...inner, firstLine: opening.text, lastLine: closing.text };
    return KEEP;
  }

  const neverCloses = ledger.closedCount === 0;
  if (!(startsWithFence || isAnnounced) || !(endsWithFence || neverCloses)) return KEEP;
  // A Markdown document can begin with one listing, or announce it, and end with another.
  const isPaired = !neverCloses && ledger.open.length === 0;
  if (kind === 'markdown' && isPaired && !isMarkdownInfo(opening.fence.info)) return KEEP;
  // In Markdown, if only the first fence is open, a fence at the end has closed a nested one.
  const closesAnother = kind === 'markdown' && neverCloses && ledger.open.length === 1;
  const isClosing = (endsWithFence && !closesAnother) || (neverCloses && isTorn(last, opening));
  return {
    kind: 'question',
    contentStart: opening.end,
    contentEnd: isClosing ? last.start : summary.bytes,
    firstLine: opening.text,
    lastLine: last.text,
  };
}

/** Whether the message was cut off within the line that would have closed the fence. */
function isTorn(last: LineMark, { fence: { character, length } }: FenceMark): boolean {
  return last.text.length < length && last.text === character.repeat(last.text.length);
}

/** The fences at the end of a message; `summary` is the content up to the held marker or fence. */
export function fencesAtEnd(
  summary: ContentSummary,
  kind: TargetKind,
  policy: FencePolicy,
): FencesAtEnd {
  const ledger = summary.fences;
  const opening = ledger.firstFences[0];
  if (opening === undefined || ledger.open.length === 0) return noFences;
  const open = ledger.open.map((mark) => mark.fence);
  const chatBefore = chatLinesBefore(ledger, opening);
  const encloses =
    policy === 'auto' &&
    ledger.closedCount === 0 &&
    ledger.open.length === 1 &&
    ledger.openBeyond === 0 &&
    chatBefore !== null &&
    chatBefore <= CHAT_BEFORE &&
    (kind !== 'markdown' || isMarkdownInfo(opening.fence.info));
  return {
    open,
    enclosing: encloses ? opening.fence : null,
    isFresh: ledger.openBeyond === 0 && isFresh(ledger),
  };
}

function isFresh({ open, lastLines }: FenceLedger): boolean {
  const [opening, last] = [open.at(-1), lastLines.at(-1)];
  return opening !== undefined && last !== undefined && last.line - opening.line <= 1;
}

/** The number of lines before the first fence, if they are few and all are chat lines; else null. */
function chatLinesBefore(ledger: FenceLedger, opening: FenceMark): number | null {
  const index = ledger.firstLines.findIndex((mark) => mark.line === opening.line);
  if (index === -1) return null;
  return ledger.firstLines.slice(0, index).every((mark) => isChatLine(mark.text)) ? index : null;
}

function chatLinesAfter(ledger: FenceLedger, closing: FenceMark): number | null {
  const index = ledger.lastLines.findIndex((mark) => mark.line === closing.line);
  if (index === -1) return null;
  const after = ledger.lastLines.slice(index + 1);
  return after.every((mark) => isChatLine(mark.text)) ? after.length : null;
}

/** Whether only blanks are between two fences (F3). */
function isNextLine(ledger: FenceLedger, opening: FenceMark, closing: FenceMark): boolean {
  const index = ledger.lastLines.findIndex((mark) => mark.line === closing.line);
  return ledger.lastLines[index - 1]?.line === opening.line;
}

function isMarkdownInfo(info: string): boolean {
  return /^(?:markdown|md|mdx)$/iu.test(info.split(/\s/u, 1)[0] ?? '');
}
