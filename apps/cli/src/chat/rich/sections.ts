import type { LiveRegion } from './live-region.ts';

/** The transcript in sections with an empty line between them: prompts, texts of the model, and runs of other lines. */
export type Sections = {
  add(kind: 'prompt' | 'line', lines: readonly string[]): void;
  /** Lines none of which may be left out. */
  addWhole(lines: readonly string[]): void;
  /** More of a text, in whole lines; what is added later waits for them. */
  say(more: () => string | Promise<string>): void;
  endSaying(): void;
  settled(): Promise<void>;
};

type Kind = 'prompt' | 'line' | 'text';

/** Calls `said` when more of a text was printed. */
export function createSections(
  region: Pick<LiveRegion, 'print' | 'printWhole'>,
  said: () => void,
): Sections {
  let last: Kind | null = null;
  /** What is done when the text before it is there; null: at once. */
  let before: Promise<void> | null = null;

  function put(kind: Kind, text: string, how: 'print' | 'printWhole' = 'print'): void {
    if (text === '') return;
    const isApart = last !== null && (last !== kind || kind === 'prompt');
    region[how](isApart ? `\n${text}` : text);
    last = kind;
  }

  function inOrder(step: () => void | Promise<void>): void {
    const done = before === null ? step() : before.then(step);
    if (done === undefined) return;
    const mine: Promise<void> = done.then(() => {
      if (before === mine) before = null;
    });
    before = mine;
  }

  return {
    add(kind, lines) {
      inOrder(() => put(kind, inLines(lines)));
    },
    addWhole(lines) {
      inOrder(() => put('line', inLines(lines), 'printWhole'));
    },
    say(more) {
      const add = (shown: string): void => {
        put('text', shown);
        said();
      };
      inOrder(() => {
        const shown = more();
        return typeof shown === 'string' ? add(shown) : shown.then(add);
      });
    },
    endSaying() {
      // The next text is another message.
      inOrder(() => {
        if (last === 'text') last = 'prompt';
      });
    },
    async settled() {
      while (before !== null) await before;
    },
  };
}

function inLines(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}
