import type { OutputStream } from '../process/output-stream.ts';
import { createAnswerText } from '../markdown/answer-text.ts';
import type { Screen } from '../terminal/screen.ts';
import type { TurnScreen } from './turn-view.ts';

export type AnswerScreenOptions = {
  readonly screen: Screen;
  readonly stdout: OutputStream;
  /** Of stdout. */
  readonly colors: boolean;
};

/**
 * A terminal on which text of the model is Markdown: whole blocks are printed, and the end of what is not whole yet is
 * shown in the line of progress. File content stays as it is.
 */
export function createAnswerScreen({ screen, stdout, colors }: AnswerScreenOptions): TurnScreen {
  const answer = createAnswerText({ columns: () => stdout.columns(), colors });
  let isOpen = false;

  function show(lines: string): Promise<void> | undefined {
    const slow = lines === '' ? undefined : screen.rendered(lines);
    const [last = ''] = answer.open().split('\n').slice(-1);
    if (last !== '') screen.progress(last.slice(-stdout.columns()));
    return slow;
  }

  /** Before anything else is shown. */
  function endText(): void {
    if (!isOpen) return;
    isOpen = false;
    const rest = answer.end();
    if (rest !== '') void screen.rendered(rest);
    else screen.clearProgress();
  }

  return {
    ...screen,
    text(text) {
      isOpen = true;
      const lines = answer.push(text);
      return typeof lines === 'string' ? show(lines) : lines.then(show);
    },
    content(text) {
      endText();
      return screen.text(text);
    },
    line(text, kind) {
      endText();
      screen.line(text, kind);
    },
    block(text, kind) {
      endText();
      screen.block(text, kind);
    },
    endText() {
      endText();
      screen.endText();
    },
  };
}
