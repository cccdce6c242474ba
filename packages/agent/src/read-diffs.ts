import type { FileDiff } from '@orion/contracts';
import { isShortened } from '@orion/core';

import type { ChangedFileDiff } from './orion.ts';

/** Characters of one file's diff, and of all diffs together. */
const FILE_DIFF = 1024 * 1024;
const ALL_DIFFS = 4 * FILE_DIFF;

/** As much of each diff as a person, or a client, is given at once. */
export async function readDiffs(
  found: readonly ChangedFileDiff[],
  signal: AbortSignal,
): Promise<readonly FileDiff[]> {
  const files: FileDiff[] = [];
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

/** As many lines as fit. */
async function beginningOf(
  lines: AsyncIterable<string>,
  limit: number,
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly cut: boolean }> {
  const taken: string[] = [];
  let length = 0;
  let cut = false;
  for await (const line of lines) {
    signal.throwIfAborted();
    length += line.length + 1;
    if (length > limit) return { text: taken.join(''), cut: true };
    taken.push(`${line}\n`);
    cut ||= isShortened(line);
  }
  return { text: taken.join(''), cut };
}
