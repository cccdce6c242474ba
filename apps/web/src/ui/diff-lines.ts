/** A unified diff as rows to draw. */
export type DiffHunk = { readonly head: string; readonly rows: readonly DiffRow[] };
export type DiffRow = { readonly sign: '+' | '-' | ' '; readonly text: string };

/** Lines before the first hunk name the files, which the page says itself. */
export function hunksOf(diff: string): readonly DiffHunk[] {
  const hunks: { head: string; rows: DiffRow[] }[] = [];
  for (const line of diff.split('\n')) {
    if (line.startsWith('@@')) {
      hunks.push({ head: line, rows: [] });
      continue;
    }
    const sign = line.charAt(0);
    if (sign === '+' || sign === '-' || sign === ' ')
      hunks.at(-1)?.rows.push({ sign, text: line.slice(1) });
  }
  return hunks;
}
