import type { TurnScreen } from '../rendering/turn-view.ts';
import type { LineKind } from '../terminal/tone.ts';
import type { Face } from './face.ts';

/** Shows a turn in the transcript of a conversation. Its progress is in the view (`viewOf`). */
export function turnScreen(face: Pick<Face, 'print' | 'say' | 'endSaying'>): TurnScreen {
  let isSaying = false;
  /** The last line of a file's text, as long as it is open. */
  let openLine = '';

  function endText(): void {
    if (isSaying) face.endSaying();
    isSaying = false;
    if (openLine !== '') verbatim([openLine]);
    openLine = '';
  }

  function verbatim(lines: readonly string[]): void {
    if (lines.length === 0) return;
    face.print({ kind: 'verbatim', lines: lines.map((text) => ({ text, tone: 'notice' })) });
  }

  function line(text: string, tone: LineKind = 'notice'): void {
    endText();
    face.print({ kind: 'line', text, tone });
  }

  return {
    showsProgress: false,
    stdoutIsTerminal: true,
    text(text) {
      isSaying = true;
      face.say(text);
      return undefined;
    },
    content(text) {
      const lines = `${openLine}${text}`.split('\n');
      openLine = lines.pop() ?? '';
      verbatim(lines);
      return undefined;
    },
    line,
    block(text, tone) {
      for (const each of text.replace(/\n$/u, '').split('\n')) line(each, tone);
    },
    progress: () => undefined,
    clearProgress: () => undefined,
    endText,
  };
}
