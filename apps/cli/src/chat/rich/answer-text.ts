import { createSanitizer } from '../../terminal/sanitize.ts';

/** A text of the model, as it arrives. */
export type AnswerText = {
  /** Answers with what is finished now, in whole lines; it is never changed again. */
  push(text: string): string;
  /** The rest, when the text is complete. */
  end(): string;
  /** What is not finished yet, in rows. */
  open(): readonly string[];
};

export function createAnswerText(): AnswerText {
  const sanitizer = createSanitizer();
  let line = '';
  return {
    push(text) {
      const more = line + sanitizer.push(text);
      const end = more.lastIndexOf('\n') + 1;
      line = more.slice(end);
      return more.slice(0, end);
    },
    end() {
      const rest = line + sanitizer.end();
      line = '';
      return rest === '' ? '' : `${rest}\n`;
    },
    open: () => (line === '' ? [] : [line]),
  };
}
