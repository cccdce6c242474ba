import type { ChangedFileDiff } from '@orion/agent';
import type { ChangeDiffAnswer } from '@orion/contracts';

/** Characters of one file's diff, and of all diffs of an answer. */
const FILE_DIFF = 1024 * 1024;
const ALL_DIFFS = 4 * FILE_DIFF;

/** As much of each diff as fits into an answer. */
export async function readDiffs(
  found: readonly ChangedFileDiff[],
  signal: AbortSignal,
): Promise<ChangeDiffAnswer['files']> {
  const files: ChangeDiffAnswer['files'][number][] = [];
  let left = ALL_DIFFS;
  for (const { target_file, diff: lines } of found) {
    if (lines === null) {
      files.push({ target_file, diff: null, cut: false });
      continue;
    }
    const { text, cut } = await beginningOf(lines, Math.min(FILE_DIFF, left), signal);
    left -= text.length;
    files.push({ target_file, diff: text, cut });
  }
  return files;
}

/** Whole lines, as many as fit. */
async function beginningOf(
  lines: AsyncIterable<string>,
  limit: number,
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly cut: boolean }> {
  const taken: string[] = [];
  let length = 0;
  for await (const line of lines) {
    signal.throwIfAborted();
    length += line.length + 1;
    if (length > limit) return { text: taken.join(''), cut: true };
    taken.push(`${line}\n`);
  }
  return { text: taken.join(''), cut: false };
}
