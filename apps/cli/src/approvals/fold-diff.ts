/** A diff as it is shown first: whole, or its two ends. */
export type FoldedDiff = {
  readonly head: readonly string[];
  readonly leftOut: number;
  readonly tail: readonly string[];
  /** Lines that are added and removed, in all of it. */
  readonly added: number;
  readonly removed: number;
};

/** A longer diff is folded. */
const SHOWN_LINES = 200;

/**
 * Reads all of a unified diff and keeps what is shown of it: all of it up to so many lines, else what precedes its first
 * hunk and the beginning of that, and the end of its last hunk, each at most half as long.
 */
export async function foldDiff(
  lines: AsyncIterable<string>,
  shown: number = SHOWN_LINES,
): Promise<FoldedDiff> {
  const edge = shown / 2;
  const first: string[] = [];
  /** Where the second hunk begins, counted in lines; the end while there is none. */
  let secondHunk = Infinity;
  let hunks = 0;
  let hunkHeader = '';
  let hunk: string[] = [];
  let added = 0;
  let removed = 0;
  let count = 0;
  for await (const line of lines) {
    if (line.startsWith('@@')) {
      hunks += 1;
      if (hunks === 2) secondHunk = count;
      hunkHeader = line;
      hunk = [];
    } else if (hunks > 0) {
      if (line.startsWith('+')) added += 1;
      if (line.startsWith('-')) removed += 1;
      hunk.push(line);
      if (hunk.length > edge) hunk.shift();
    }
    count += 1;
    if (first.length < shown) first.push(line);
  }
  if (count <= shown) return { head: first, leftOut: 0, tail: [], added, removed };
  const head = first.slice(0, Math.min(secondHunk, edge));
  const tail = hunks > 1 ? [hunkHeader, ...hunk] : hunk;
  return { head, leftOut: count - head.length - tail.length, tail, added, removed };
}
