import { sanitize, sanitizeLine, sanitizeProse } from '../terminal/sanitize.ts';
import { emphasize, paint } from '../terminal/tone.ts';
import type { TranscriptBlock } from './face.ts';

/** What stands before a prompt. */
export const PROMPT_SIGN = '> ';

/** The lines of a block, harmless and coloured. */
export function transcriptLines(block: TranscriptBlock, colors: boolean): readonly string[] {
  switch (block.kind) {
    case 'line':
      return [paint(sanitizeLine(block.text), block.tone, colors)];
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
