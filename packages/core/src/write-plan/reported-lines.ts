/**
 * The lines that a receipt names (R245). A session counts them in the text as it arrived; a person looks for them in
 * the file, which may be a part of that text, and may have lines of its own before it.
 *
 * Invariants
 * L1  Every line that is named stands in the file, counted from 1. A seam may also be named one line behind the last:
 *     nothing came after it, and the file may be too short there.
 * L2  Nothing is read where there is nothing to name.
 */
import { TextTally } from '@orion/contracts';
import type { Seam, SessionHandle } from '@orion/contracts';

export type ReportedLines = {
  readonly innerDoneLines: readonly number[];
  readonly seams: readonly Seam[];
};

/** The part of the saved text that is the file's. */
export type FilePart = {
  readonly handle: Pick<SessionHandle, 'bytes' | 'readContent'>;
  readonly start: number;
  /** Null: to the end. */
  readonly end: number | null;
};

export function hasReportedLines({ innerDoneLines, seams }: ReportedLines): boolean {
  return innerDoneLines.length > 0 || seams.length > 0;
}

/** `linesBefore`: line feeds of the file before the text. */
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

/** Whether more than a last line ending is left out at the end. */
function isCut({ handle, end }: FilePart): boolean {
  return end !== null && handle.bytes() - end > '\r\n'.length;
}

/** Of the first so many bytes. */
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
