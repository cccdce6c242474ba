import type { FaceOptions } from '../open-face.ts';
import { PROMPT_SIGN } from '../transcript.ts';
import { createLineEditor, isKey, type ListItem } from './line-editor.ts';
import { createPromptHistory } from './prompt-history.ts';
import { oneLine, typedRows, type TypedRows } from './region-rows.ts';

/** The prompt that is being typed, and those before it. */
export type Draft = {
  /** Answers with what is to be sent, where the key was Enter; null otherwise. */
  handle(key: string): string | null;
  paste(text: string): void;
  text(): string;
  /** Replaces it; what was there is kept in the history. */
  replace(text: string): void;
  isEmpty(): boolean;
  /** Whether Up leads out of it. */
  isAtTop(): boolean;
  /** Whether Esc closes something of it. */
  hasMenu(): boolean;
  /** Earlier prompts as items of a list, newest first. */
  earlier(): Promise<readonly ListItem[]>;
  render(columns: number): { readonly typed: TypedRows; readonly menu: readonly string[] };
};

export function createDraft(
  { complete, history, colors }: Pick<FaceOptions, 'complete' | 'history' | 'colors'>,
  changed: () => void,
): Draft {
  const editor = createLineEditor({ complete, colors, changed });
  const earlier = createPromptHistory();
  let loading: Promise<void> | null = null;
  let isLoaded = false;

  async function load(): Promise<void> {
    earlier.addOlder(await history());
    isLoaded = true;
  }

  function loadEarlier(): Promise<void> {
    loading ??= load();
    return loading;
  }

  function take(): string | null {
    const text = editor.text();
    if (text.trim() === '') return null;
    editor.setText('');
    earlier.remember(text);
    return text;
  }

  /** Enter: a completion where a list of one is open, a new line behind a backslash, or else the end of the prompt. */
  function enter(): string | null {
    if (editor.isCompleting()) {
      const accepted = editor.accept();
      if (accepted !== null) return accepted.isCommand ? take() : null;
    }
    if (editor.isBehind('\\')) {
      editor.handle(BACKSPACE);
      editor.handle(LINE_FEED);
      return null;
    }
    return take();
  }

  function lookBack(): void {
    if (isLoaded) {
      look(earlier.previous(editor.text()));
      return;
    }
    void loadEarlier().then(() => {
      look(earlier.previous(editor.text()));
      changed();
    });
  }

  function look(prompt: string | null): void {
    if (prompt !== null) editor.setText(prompt);
  }

  return {
    handle(key) {
      if (key !== LINE_FEED && isKey(key, 'enter')) return enter();
      if (editor.isCompleting() && isKey(key, 'tab')) {
        // The list of an earlier text is closed by it, and asked for again.
        if (editor.accept() === null) editor.handle(key);
      } else if (!editor.isCompleting() && isKey(key, 'up') && editor.isAtTop()) {
        lookBack();
      } else if (!editor.isCompleting() && isKey(key, 'down') && editor.isAtBottom()) {
        look(earlier.next(editor.text()));
      } else {
        editor.handle(key);
      }
      return null;
    },
    paste: (text) => editor.paste(text),
    text: () => editor.text(),
    replace(text) {
      const before = editor.text();
      if (before !== text) earlier.remember(before);
      editor.setText(text);
    },
    isEmpty: () => editor.isEmpty(),
    isAtTop: () => editor.isAtTop(),
    hasMenu: () => editor.isCompleting(),
    async earlier() {
      await loadEarlier();
      return earlier.all().map((prompt) => {
        const lines = prompt.split('\n').length;
        return {
          value: prompt,
          label: oneLine(prompt),
          detail: lines > 1 ? `${lines} lines` : '',
        };
      });
    },
    render(columns) {
      const { rows, caret, menu } = editor.render(columns - PROMPT_SIGN.length);
      return { typed: typedRows(PROMPT_SIGN, { rows, caret }), menu };
    },
  };
}

const LINE_FEED = '\n';
const BACKSPACE = '\u007F';
