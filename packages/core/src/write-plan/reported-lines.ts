/**
 * Converts the line numbers of a receipt (R245). A session counts lines in the text as it arrived; a reader of the
 * receipt looks for them in the file, which may contain only a part of that text and other lines before it.
 *
 * Invariants
 * L1  Every reported line exists in the file, counted from 1. A seam may also be one line after the last: no text
 *     followed it, and the file may be too short there.
 * L2  Nothing is read if there is nothing to report.
 */
import { TextTally } from '@orion/contracts';
import type { Seam, SessionHandle } from '@orion/contracts';

export type ReportedLines = {
  readonly innerDoneLines: readonly number[];
  readonly seams: readonly Seam[];
};

/** The part of the saved text that belongs to the file. */
export type FilePart = {
  readonly handle: Pick<SessionHandle, 'bytes' | 'readContent'>;
  readonly start: number;
  /** Null: to the end of the text. */
  readonly end: number | null;
};

export function hasReportedLines({ innerDoneLines, seams }: ReportedLines): boolean {
  return innerDoneLines.length > 0 || seams.length > 0;
}

/** `linesBefore`: the number of line feeds in the file before the text. */
export async function linesInFile(
  reported: ReportedLines,
  part: FilePart,
  linesBefore: number,
): Promise<ReportedLines> {
  if (!hasReportedLines(reported)) return reported;
  const { handle, start, end } = part;
  const skipped = await countLineFeeds(handle.readContent(0, start), start);
  const lines = await countLines(handle.readContent(start, end ?? undefined));
  const last = lines + (isCut(part) ? 0 : 1);
  return {
    innerDoneLines: reported.innerDoneLines
      .map((line) => line - skipped)
      .filter((line) => line >= 1 && line <= lines)
      .map((line) => line + linesBefore),
    seams: reported.seams
      .map((seam) => ({ ...seam, line: seam.line - skipped }))
      .filter(({ line }) => line >= 1 && line <= last)
      .map((seam) => ({ ...seam, line: seam.line + linesBefore })),
  };
}

/** Whether more than a final line ending is left out at the end. */
function isCut({ handle, end }: FilePart): boolean {
  return end !== null && handle.bytes() - end > '\r\n'.length;
}

/** Counts the line feeds among the first `bytes` bytes. */
export async function countLineFeeds(
  chunks: AsyncIterable<Uint8Array>,
  bytes: number,
): Promise<number> {
  const tally = new TextTally();
  for await (const chunk of chunks) tally.add(chunk.subarray(0, bytes - tally.bytes));
  return tally.lineFeeds;
}

async function countLines(chunks: AsyncIterable<Uint8Array>): Promise<number> {
  const tally = new TextTally();
  for await (const chunk of chunks) tally.add(chunk);
  return tally.lines();
}
