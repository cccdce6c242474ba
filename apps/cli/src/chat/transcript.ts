import { sanitize, sanitizeLine, sanitizeProse } from '../terminal/sanitize.ts';
import { MAX_PROSE_COLUMNS } from '../terminal/columns.ts';
import { emphasize, paint } from '../terminal/tone.ts';
import { wrapLine } from '../terminal/wrap-line.ts';
import type { TranscriptBlock } from './face.ts';

/** What stands before a prompt. */
export const PROMPT_SIGN = '> ';

export type TranscriptLook = {
  readonly colors: boolean;
  /** Of the terminal. */
  readonly columns: number;
};

/** The lines of a block, harmless and coloured. */
export function transcriptLines(
  block: TranscriptBlock,
  { colors, columns }: TranscriptLook,
): readonly string[] {
  switch (block.kind) {
    case 'line':
      return wrapLine(sanitizeLine(block.text), Math.min(MAX_PROSE_COLUMNS, columns)).map((line) =>
        paint(line, block.tone, colors),
      );
    case 'prompt':
      return [
        ...sanitize(block.text)
          .split('\n')
          .map((line) => emphasize(`${PROMPT_SIGN}${line}`, colors)),
        ...attachedLines(block.attached, colors),
      ];
    case 'verbatim':
      return block.lines.map(({ text, tone }) => paint(sanitizeProse(text), tone, colors));
    default:
      return block satisfies never;
  }
}

export function attachedLines(attached: readonly string[], colors: boolean): readonly string[] {
  return attached.map((line) => paint(`  ${sanitizeLine(line)}`, 'faint', colors));
}
