/** Rows of text with their columns below each other; the first column is aligned to the left in any case. */
export function formatTable(
  rows: readonly (readonly string[])[],
  others: 'left' | 'right' = 'left',
): string {
  const columns = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const aligned = (cell: string, column: number): string =>
    others === 'left' || column === 0
      ? cell.padEnd(widths[column] ?? 0)
      : cell.padStart(widths[column] ?? 0);
  return rows.map((row) => row.map(aligned).join('  ').trimEnd()).join('\n');
}
