export type LineKind = 'notice' | 'warning' | 'error' | 'success' | 'faint';

const COLORS: Readonly<Record<LineKind, string>> = {
  notice: '',
  warning: '33',
  error: '31',
  success: '32',
  faint: '2',
};

/** One line in the colour of its kind. The text must be sanitised. */
export function paint(line: string, kind: LineKind, colors: boolean): string {
  const color = colors ? COLORS[kind] : '';
  return color === '' ? line : `\u001B[${color}m${line}\u001B[0m`;
}

/** Text that stands out. It must be sanitised. */
export function emphasize(text: string, colors: boolean): string {
  return colors ? `\u001B[1m${text}\u001B[0m` : text;
}
