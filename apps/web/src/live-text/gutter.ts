import type { LineBlock } from './line-blocks.ts';

/** Bytes of the text that a power cut leaves, and those that the end of the process leaves: never fewer. */
export type Marks = { readonly synced: number; readonly saved: number };

export const SEAM = '═';

/** How many lines of a block the first bytes of the text hold, whole ones only. Reads the text only where it has to. */
export function linesWithin(
  { startByte, endByte }: Pick<LineBlock, 'startByte' | 'endByte'>,
  lines: number,
  bytes: number,
  readText: () => string,
): number {
  if (bytes >= endByte) return lines;
  if (bytes <= startByte) return 0;
  let count = 0;
  const encoded = new TextEncoder().encode(readText()).subarray(0, bytes - startByte);
  for (const byte of encoded) if (byte === 0x0a) count += 1;
  return count;
}

/** Beside each line its number, and whether text was joined there. */
export function gutterText(firstLine: number, lines: number, seams: ReadonlySet<number>): string {
  return Array.from({ length: lines }, (_, at) => {
    const line = firstLine + at;
    return `${line} ${seams.has(line) ? SEAM : ' '}`;
  }).join('\n');
}

/** How many lines have each of the marks, from the first line on: none has two. */
export function markedLines(
  lines: number,
  { synced, saved }: Marks,
): { readonly synced: number; readonly saved: number; readonly received: number } {
  const known = Math.max(synced, saved);
  return { synced, saved: known - synced, received: lines - known };
}
