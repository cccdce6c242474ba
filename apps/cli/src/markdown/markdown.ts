import { MAX_PROSE_COLUMNS } from '../terminal/columns.ts';
import { sanitize } from '../terminal/sanitize.ts';
import { readPieces, type Piece } from './pieces.ts';
import { renderMarkdown, type Highlight } from './render.ts';

/** Markdown on a terminal, as it arrives. */
export type Markdown = {
  /** More of it, sanitised. Answers with what is finished now, in whole lines. */
  push(text: string): string;
  end(): string;
  /** What is not finished, as it was written. */
  open(): string;
};

export type MarkdownOptions = {
  /** Of the terminal. */
  readonly columns: () => number;
  readonly colors: boolean;
  readonly highlight: Highlight;
};

export function createMarkdown({ columns, colors, highlight }: MarkdownOptions): Markdown {
  const reader = readPieces();
  /** Whether something was given of this text. */
  let isBegun = false;

  function render(pieces: readonly Piece[]): string {
    let text = '';
    for (const piece of pieces) {
      const lines = linesOf(piece);
      if (lines.length === 0) continue;
      if (isBegun && !piece.tight) text += '\n';
      isBegun = true;
      text += `${lines.join('\n')}\n`;
    }
    return text;
  }

  function linesOf(piece: Piece): readonly string[] {
    if (piece.kind === 'code') return highlight(piece.lines.map(sanitize), piece.info);
    const width = Math.min(MAX_PROSE_COLUMNS, columns());
    return renderMarkdown(piece.source, { width, colors, highlight }, piece.withoutHead);
  }

  return {
    push: (text) => render(reader.push(text)),
    end() {
      const rest = render(reader.end());
      isBegun = false;
      return rest;
    },
    open: () => reader.open(),
  };
}
