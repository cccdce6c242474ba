/**
 * Recognises a reply that is the document again, from its first line (R297).
 *
 * Invariants
 * D1  The verdict depends on the reply alone, not on how it was divided, and never changes.
 * D2  Memory is bounded: a few lines, each of bounded length.
 */
import { emptyFirstLines, readFirstLines } from './first-lines.ts';
import type { FirstLines } from './first-lines.ts';
import type { ContentSummary } from './content-summary.ts';
import { closesFence, isChatLine, parseFenceLine, sameLine } from './lines.ts';
import type { FenceLine } from './lines.ts';
import { findLead } from './leads.ts';
import type { LeadTarget } from './leads.ts';

export type AgainReader = {
  /** The possible beginnings of the saved text: its first lines, those after its lead, those inside its fence. */
  readonly beginnings: readonly (readonly string[])[];
  readonly lines: FirstLines;
  readonly verdict: 'again' | 'other' | null;
};

/** The number of equal lines that prove a restart. */
const PROOF = 2;
/** At most two chat lines and a fence may precede them. */
const MAX_CHAT_LINES = 2;
const MAX_LINES = MAX_CHAT_LINES + 1 + PROOF;

export function createAgainReader(summary: ContentSummary, target: LeadTarget): AgainReader {
  const beginnings = beginningsOf(summary, target);
  return { beginnings, lines: emptyFirstLines, verdict: beginnings.length === 0 ? 'other' : null };
}

export function readAgain(reader: AgainReader, text: string): AgainReader {
  if (reader.verdict !== null) return reader;
  const lines = readFirstLines(reader.lines, text, MAX_LINES);
  const verdict = verdictOf(reader.beginnings, lines.whole, lines.isFull);
  return { ...reader, lines, verdict };
}

export function endAgain({ beginnings, lines, verdict }: AgainReader): 'again' | 'other' {
  if (verdict !== null) return verdict;
  return verdictOf(beginnings, [...lines.whole, lines.open], true) ?? 'other';
}

function verdictOf(
  beginnings: AgainReader['beginnings'],
  lines: readonly string[],
  isFull: boolean,
): 'again' | 'other' | null {
  const found = startsOf(lines).flatMap((start) =>
    beginnings.map((beginning) => compared(lines.slice(start), beginning)),
  );
  if (found.includes('same')) return 'again';
  return isFull || !found.includes('same so far') ? 'other' : null;
}

function compared(
  lines: readonly string[],
  beginning: readonly string[],
): 'same' | 'same so far' | 'different' {
  const known = beginning.slice(0, lines.length);
  if (known.some((line, index) => !sameLine(line, lines[index] ?? ''))) return 'different';
  return known.length === beginning.length ? 'same' : 'same so far';
}

/** Where the document may begin: after up to two chat lines and, after these, a fence. */
function startsOf(lines: readonly string[]): readonly number[] {
  const starts: number[] = [];
  for (let start = 0; start <= MAX_CHAT_LINES; start += 1) {
    starts.push(start);
    const line = lines[start] ?? '';
    if (parseFenceLine(line) !== null) starts.push(start + 1);
    if (!isChatLine(line)) break;
  }
  return starts;
}

function beginningsOf(summary: ContentSummary, target: LeadTarget): readonly (readonly string[])[] {
  const { head, headIsClosed } = summary.prefix;
  const isShort = !headIsClosed && summary.openLine.length === summary.openLineLength;
  const lines = readFirstLines(
    emptyFirstLines,
    `${head}${isShort ? `${summary.openLine}\n` : ''}`,
    MAX_LINES,
  ).whole;
  const lead = findLead(summary, target)?.lines ?? 0;
  const fence = parseFenceLine(lines[lead] ?? '');
  const inner = fence === null ? [] : lines.slice(lead + 1);
  const close = inner.findIndex((line) => fence !== null && closesLine(fence, line));
  return [lines, lines.slice(lead), close === -1 ? inner : inner.slice(0, close)]
    .map((each) => each.slice(0, PROOF))
    .filter((each) => each.length > 0 && (each.length === PROOF || lines.length < MAX_LINES));
}

function closesLine(fence: FenceLine, line: string): boolean {
  const found = parseFenceLine(line);
  return found !== null && closesFence(fence, found);
}
