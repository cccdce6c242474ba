import { tailOf, TAIL_WINDOW } from './content-summary.ts';
import type { ContentSummary } from './content-summary.ts';
import { isBlankLine, trimLine } from './lines.ts';

/**
 * The end of the saved content, divided into lines: what a continuation has to repeat (R047).
 *
 * Invariants
 * E1  `lines` are the whole lines within the last `TAIL_WINDOW` code units, up to the last non-blank one. A line
 *     that begins before the window is not among them.
 * E2  Content = … + `lines` + `blankLinesBehind` blank lines + `openLine` (+ a CR).
 */
export type ContentEnd = {
  /** Unchanged, but without their LF. */
  readonly lines: readonly string[];
  /** The same without trailing blanks: how lines are compared. */
  readonly trimmed: readonly string[];
  readonly blankLinesBehind: number;
  /** L of §1.4a: the open last line without a trailing CR, which does not count as stored yet. */
  readonly openLine: string;
  readonly endsInCarriageReturn: boolean;
  /** Whether `openLine` begins within the window, so that all of it is known. */
  readonly openLineIsWhole: boolean;
  /** The index in `lines` of the content's first non-blank line; null if it is before the window. */
  readonly firstLine: number | null;
  /** The window's text up to the end of `lines`, or of `openLine` if there is one. */
  readonly text: string;
};

export function contentEndOf(summary: ContentSummary): ContentEnd {
  const tail = tailOf(summary);
  const isWhole = summary.length <= TAIL_WINDOW;
  const rows = tail.split('\n');
  const last = rows.pop() ?? '';
  const endsInCarriageReturn = last.endsWith('\r');
  const openLine = endsInCarriageReturn ? last.slice(0, -1) : last;
  const openLineIsWhole = isWhole || rows.length > 0;
  if (!isWhole) rows.shift();

  let count = rows.length;
  while (count > 0 && isBlankLine(rows[count - 1] ?? '')) count -= 1;
  const blankLinesBehind = rows.length - count;
  const behind = rows.slice(count).reduce((length, row) => length + row.length + 1, last.length);
  const lines = rows.slice(0, count);
  const firstLine = lines.findIndex((line) => !isBlankLine(line));
  return {
    lines,
    trimmed: lines.map(trimLine),
    blankLinesBehind,
    openLine,
    endsInCarriageReturn,
    openLineIsWhole,
    firstLine: isWhole ? Math.max(firstLine, 0) : null,
    text:
      openLine === ''
        ? withoutLineEnd(tail.slice(0, tail.length - behind))
        : tail.slice(0, tail.length - (endsInCarriageReturn ? 1 : 0)),
  };
}

function withoutLineEnd(text: string): string {
  if (text.endsWith('\r\n')) return text.slice(0, -2);
  return text.endsWith('\n') ? text.slice(0, -1) : text;
}

/**
 * The length of the longest run of last lines that also occurs elsewhere, followed there (ignoring blank lines) by the
 * open line. Any longer run is unique. -1: not even the open line alone occurs elsewhere at the start of a line.
 *
 * One pass of the Z algorithm from the end, so that 128 Ki equal lines cost no more than any others.
 */
export function repeatedRun(end: ContentEnd): number {
  const { trimmed } = end;
  const count = trimmed.length;
  const follows = lineStartsWithOpenLine(end);
  const common = new Int32Array(count + 1);
  let longest = follows[0] === 1 ? 0 : -1;
  // `common[k]`: how many lines before the last k equal the last lines. [left, right) is the known match.
  let left = 0;
  let right = 0;
  for (let skipped = 1; skipped < count; skipped += 1) {
    let length = skipped < right ? Math.min(right - skipped, common[skipped - left] ?? 0) : 0;
    while (
      skipped + length < count &&
      trimmed[count - 1 - length] === trimmed[count - 1 - skipped - length]
    )
      length += 1;
    common[skipped] = length;
    if (skipped + length > right) {
      left = skipped;
      right = skipped + length;
    }
    if (follows[count - skipped] === 1 && length > longest) longest = length;
  }
  return longest;
}

/** For each index whether the next non-blank line from there on begins with the open line. */
function lineStartsWithOpenLine(end: ContentEnd): Uint8Array {
  const open = trimLine(end.openLine);
  const count = end.trimmed.length;
  const follows = new Uint8Array(count);
  let next = 0;
  for (let index = count - 1; index >= 0; index -= 1) {
    if (end.trimmed[index] !== '') next = (end.lines[index] ?? '').startsWith(open) ? 1 : 0;
    follows[index] = next;
  }
  return follows;
}
