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
