import { createSanitizer } from '../terminal/sanitize.ts';
import type { Markdown } from './markdown.ts';
import type { Highlight } from './render.ts';

/**
 * A text of the model on a terminal, as it arrives.
 *
 * A1. What is answered is whole lines, harmless, and never changed again.
 * A2. The lexer is loaded with the first text, the colours of code with the first fence. Until then the answer is a
 *     promise, and the next call is made when it has settled.
 */
export type AnswerText = {
  push(text: string): string | Promise<string>;
  /** The rest, when the text is complete. */
  end(): string;
  /** What is not finished, as it was written. */
  open(): string;
};

export type AnswerTextOptions = {
  readonly columns: () => number;
  readonly colors: boolean;
};

const FENCE = /`{3}|~{3}/u;

export function createAnswerText({ columns, colors }: AnswerTextOptions): AnswerText {
  const sanitizer = createSanitizer();
  let markdown: Markdown | null = null;
  let highlight: Highlight | null = null;
  /** The last characters, which may begin a fence. */
  let tail = '';

  async function load(needsColors: boolean): Promise<Markdown> {
    if (needsColors) highlight = (await import('./highlight.ts')).highlight;
    const { createMarkdown } = await import('./markdown.ts');
    markdown ??= createMarkdown({
      columns,
      colors,
      highlight: (lines, info) => highlight?.(lines, info) ?? lines,
    });
    return markdown;
  }

  function push(text: string): string | Promise<string> {
    const shown = sanitizer.push(text);
    const needsColors = colors && highlight === null && FENCE.test(tail + shown);
    tail = shown.slice(-2);
    if (markdown !== null && !needsColors) return markdown.push(shown);
    return load(needsColors).then((loaded) => loaded.push(shown));
  }

  return {
    push,
    end() {
      const rest = sanitizer.end();
      tail = '';
      return markdown === null ? '' : markdown.push(rest) + markdown.end();
    },
    open: () => markdown?.open() ?? '',
  };
}
