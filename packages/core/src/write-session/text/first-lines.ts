import { isBlankLine } from './lines.ts';

/** The first non-blank lines of a streamed text, however it is divided. */
export type FirstLines = {
  readonly whole: readonly string[];
  /** The unfinished line. */
  readonly open: string;
  /** Reading has stopped: there are enough lines, or one is too long to compare. */
  readonly isFull: boolean;
};

const MAX_LINE = 8_192;

export const emptyFirstLines: FirstLines = { whole: [], open: '', isFull: false };

export function readFirstLines(lines: FirstLines, text: string, limit: number): FirstLines {
  let { whole, open, isFull } = lines;
  let from = 0;
  while (!isFull && from < text.length) {
    const lineEnd = text.indexOf('\n', from);
    const to = lineEnd === -1 ? text.length : lineEnd;
    open += text.slice(from, Math.min(to, from + MAX_LINE + 1));
    isFull = open.length > MAX_LINE;
    if (isFull || lineEnd === -1) break;
    if (!isBlankLine(open)) whole = [...whole, open];
    open = '';
    isFull = whole.length >= limit;
    from = lineEnd + 1;
  }
  return { whole, open: open.slice(0, MAX_LINE + 1), isFull };
}
