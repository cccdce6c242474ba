import type { FileVersion } from '@orion/contracts';

import { emptyImage, imageOfTexts } from '../file-image.ts';
import type { PlannedChange } from '../plan-changes.ts';
import { requireRunning } from '../running.ts';
import { formatDiff } from './format.ts';
import { lineEdits } from './line-edits.ts';

/** A planned change as the lines of a unified diff; none if nothing changes. */
export function diffOf({ expected, state }: PlannedChange): AsyncIterable<string> {
  return formatDiff(lineEdits(state.image, expected.bytes, state.readBase), {
    before: expected.exists ? expected.path : null,
    after: expected.path,
  });
}

/** Two versions of a file, null where there is none, as the lines of a unified diff. */
export function diffVersions(
  path: string,
  before: FileVersion | null,
  after: FileVersion | null,
): AsyncIterable<string> {
  const image =
    after === null
      ? emptyImage
      : imageOfTexts([{ source: () => after.read(), bytes: after.bytes }]);
  const edits = lineEdits(image, before?.bytes ?? 0, () => before?.read() ?? nothing());
  return formatDiff(edits, { before: before === null ? null : path, after: path });
}

// oxlint-disable-next-line require-yield -- of a file that is not there
async function* nothing(): AsyncGenerator<Uint8Array, void> {
  await Promise.resolve();
}

/** The diff as one text of at most about `limit` characters. */
export async function readDiff(
  change: PlannedChange,
  limit: number,
  signal: AbortSignal | null,
): Promise<{ readonly text: string; readonly cut: boolean }> {
  const lines: string[] = [];
  let length = 0;
  for await (const line of diffOf(change)) {
    requireRunning(signal);
    if (length + line.length > limit) return { text: joined(lines), cut: true };
    lines.push(line);
    length += line.length + 1;
  }
  return { text: joined(lines), cut: false };
}

function joined(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}
