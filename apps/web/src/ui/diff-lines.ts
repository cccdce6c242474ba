/** A unified diff as rows to draw. */
export type DiffHunk = { readonly head: string; readonly rows: readonly DiffRow[] };
export type DiffRow = {
  readonly sign: '+' | '-' | ' ';
  readonly text: string;
  /** The last line of its file, which ends without a line feed. */
  readonly isUnended?: true;
};

/** Lines before the first hunk name the files, which the page says itself. */
export function hunksOf(diff: string): readonly DiffHunk[] {
  const hunks: { head: string; rows: DiffRow[] }[] = [];
  for (const line of diff.split('\n')) {
    if (line.startsWith('@@')) {
      hunks.push({ head: line, rows: [] });
      continue;
    }
    const sign = line.charAt(0);
    const rows = hunks.at(-1)?.rows ?? [];
    const last = rows.at(-1);
    if (sign === '\\' && last !== undefined) rows[rows.length - 1] = { ...last, isUnended: true };
    if (sign === '+' || sign === '-' || sign === ' ') rows.push({ sign, text: line.slice(1) });
  }
  return hunks;
}
