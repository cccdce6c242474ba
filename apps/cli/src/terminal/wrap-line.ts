import { columnsOf } from './columns.ts';

/**
 * One line as lines of at most so many columns, broken at blanks; indented as it is. What has no blank, such as a path
 * or a hash, is left whole, however long it is. A line that fits stays as it is.
 */
export function wrapLine(text: string, width: number): readonly string[] {
  if (columnsOf(text) <= width) return [text];
  const indent = /^[ \t]*/u.exec(text)?.[0] ?? '';
  const lines: string[] = [];
  let line = indent;
  let used = columnsOf(indent);
  let isBegun = false;
  for (const [, blanks = '', word = ''] of text
    .slice(indent.length)
    .matchAll(/([ \t]*)([^ \t]+)/gu)) {
    const needed = columnsOf(blanks) + columnsOf(word);
    if (isBegun && used + needed > width) {
      lines.push(line);
      line = `${indent}${word}`;
      used = columnsOf(line);
    } else {
      line += blanks + word;
      used += needed;
    }
    isBegun = true;
  }
  return [...lines, line];
}
