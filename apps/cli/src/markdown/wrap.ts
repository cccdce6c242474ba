import { columnsOf } from '../terminal/columns.ts';

/** Text in one style; `begin` and `end` are ours, and print nothing. */
export type Run = { readonly text: string; readonly begin: string; readonly end: string };

/** Runs without a blank between them, and the columns that they take. */
type Word = { readonly runs: Run[]; width: number };

/** Breaks runs between words. A word that is too long keeps its line for itself and is never broken. */
export function wrapRuns(
  runs: readonly (Run & { readonly whole: boolean })[],
  width: number,
): string[] {
  const lines: string[] = [];
  for (const line of wordsOf(runs)) {
    let words: Word[] = [];
    let used = 0;
    for (const word of line) {
      if (words.length > 0 && used + 1 + word.width > width) {
        lines.push(joinWords(words));
        words = [];
        used = 0;
      }
      used += (words.length === 0 ? 0 : 1) + word.width;
      words.push(word);
    }
    lines.push(joinWords(words));
  }
  return lines;
}

/** The words of each line, where a line feed ends one. A `whole` run is not broken at its blanks. */
function wordsOf(
  runs: readonly (Run & { readonly whole: boolean })[],
): readonly (readonly Word[])[] {
  const lines: Word[][] = [[]];
  let word: Word | null = null;
  const addTo = ({ begin, end }: Run, text: string): void => {
    if (text === '') return;
    if (word === null) {
      word = { runs: [], width: 0 };
      lines.at(-1)?.push(word);
    }
    word.runs.push({ text, begin, end });
    word.width += columnsOf(text);
  };
  for (const run of runs) {
    if (run.whole) {
      addTo(run, run.text);
      continue;
    }
    for (const [index, line] of run.text.split('\n').entries()) {
      if (index > 0) {
        lines.push([]);
        word = null;
      }
      for (const [place, part] of line.split(/[ \t]+/u).entries()) {
        if (place > 0) word = null;
        addTo(run, part);
      }
    }
  }
  return lines;
}

/** Neighbours of one style share its marks. */
function joinWords(words: readonly Word[]): string {
  let text = '';
  let open: Run | null = null;
  for (const [index, word] of words.entries()) {
    for (const [place, run] of word.runs.entries()) {
      const isSame: boolean = open !== null && open.begin === run.begin && open.end === run.end;
      if (!isSame && open !== null) text += open.end;
      if (index > 0 && place === 0) text += ' ';
      if (!isSame) text += run.begin;
      text += run.text;
      open = run;
    }
  }
  return open === null ? text : text + (open as Run).end;
}
