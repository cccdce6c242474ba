/**
 * Separates reasoning that a model writes between `<think>` and `</think>` from its answer. Not for the content of a
 * file, which may begin with the same characters.
 *
 * 1. Only a tag that opens the message counts, after optional white space. Within an answer or a file the same
 *    characters are ordinary text.
 * 2. White space before the opening tag and line breaks after the closing tag are from the chat template, not from the
 *    answer, and are removed.
 * 3. Any split of the content gives the same two texts.
 *
 * If a chat template puts the opening tag into the prompt, the answer has none. Servers for such models have an option
 * that moves the reasoning into a field of its own.
 */
export type ThinkTags = {
  push(content: string): void;
  /** The message has ended: releases what was held back because it could have become a tag. */
  end(): void;
};

type Sinks = {
  readonly onText: (text: string) => void;
  readonly onReasoning: (text: string) => void;
};

/** More white space is not from a template: it is text, and is not held back. */
const MOST_BLANKS = 64 * 1024;
const OPEN = '<think>';
const CLOSE = '</think>';

export function createThinkTags(sinks: Sinks): ThinkTags {
  let mode: 'opening' | 'reasoning' | 'after' | 'text' = 'opening';
  let held = '';
  /** White space before a possible opening tag, examined once. */
  let blanks = '';

  function push(content: string): void {
    if (mode === 'text') {
      sinks.onText(content);
      return;
    }
    held += content;
    if (mode === 'opening') {
      const start = held.trimStart();
      blanks += held.slice(0, held.length - start.length);
      held = start;
      if (start.startsWith(OPEN)) {
        mode = 'reasoning';
        held = start.slice(OPEN.length);
      } else if (OPEN.startsWith(start) && blanks.length <= MOST_BLANKS) {
        return;
      } else {
        mode = 'text';
        held = blanks + held;
        release(sinks.onText);
        return;
      }
    }
    if (mode === 'reasoning') {
      const close = held.indexOf(CLOSE);
      if (close === -1) {
        const safe = held.length - overlapWithClose(held);
        if (safe > 0) sinks.onReasoning(held.slice(0, safe));
        held = held.slice(safe);
      } else {
        if (close > 0) sinks.onReasoning(held.slice(0, close));
        mode = 'after';
        held = held.slice(close + CLOSE.length);
      }
    }
    if (mode === 'after') {
      held = held.replace(/^[\r\n]+/, '');
      if (held === '') return;
      mode = 'text';
      release(sinks.onText);
    }
  }

  function release(sink: (text: string) => void): void {
    const text = held;
    held = '';
    if (text !== '') sink(text);
  }

  return {
    push,
    end: () => {
      if (mode === 'opening') {
        held = blanks + held;
        release(sinks.onText);
      }
      if (mode === 'reasoning') release(sinks.onReasoning);
    },
  };
}

/** How many characters at the end of a text could begin the closing tag. */
function overlapWithClose(text: string): number {
  for (let length = Math.min(CLOSE.length - 1, text.length); length > 0; length -= 1) {
    if (CLOSE.startsWith(text.slice(text.length - length))) return length;
  }
  return 0;
}
