import { cutToColumns } from '@orion/contracts';

import type { OutputStream } from '../process/output-stream.ts';
import { createSanitizer, sanitize, sanitizeLine } from './sanitize.ts';
import { paint, type LineKind } from './tone.ts';

/**
 * Where a person reads: text of the model on stdout, everything else in whole lines on stderr, and at most one line
 * of progress below them.
 *
 * Nothing from outside reaches a terminal unsanitised. A stdout that is not a terminal gets the exact text.
 */
export type Screen = {
  /** Whether progress is worth making. */
  readonly showsProgress: boolean;
  readonly stdoutIsTerminal: boolean;
  /** Text of the model or of a file. The promise, if any, is to be awaited before more is written. */
  text(text: string): Promise<void> | undefined;
  /** Whole lines for a terminal that were made harmless before, in colours of ours. */
  rendered(lines: string): Promise<void> | undefined;
  /** One line; whatever would break or hide it is shown as text. */
  line(text: string, kind?: LineKind): void;
  /** Text of several lines. */
  block(text: string, kind?: LineKind): void;
  /** Replaces the line of progress. */
  progress(text: string): void;
  clearProgress(): void;
  /** Asks without ending the line; `answered` follows. */
  ask(text: string): void;
  /** The person has ended the line by typing Enter. */
  answered(): void;
  /** Ends an open line of text, on a terminal. */
  endText(): void;
  /** Waits until the terminal, or whatever reads instead, has taken everything. */
  flush(): Promise<void>;
};

export type ScreenOptions = {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly colors: boolean;
};

export function createScreen({ stdout, stderr, colors }: ScreenOptions): Screen {
  const sanitizer = createSanitizer();
  let textLineIsOpen = false;
  let progressWidth = 0;
  let questionIsOpen = false;

  function clearProgress(): void {
    if (progressWidth === 0) return;
    void stderr.write(`\r${' '.repeat(progressWidth)}\r`);
    progressWidth = 0;
  }

  function endText(): void {
    const rest = stdout.isTerminal ? sanitizer.end() : '';
    if (rest !== '') void stdout.write(rest);
    if (textLineIsOpen && stdout.isTerminal) void stdout.write('\n');
    textLineIsOpen = false;
  }

  function writeLines(text: string, kind: LineKind): void {
    clearProgress();
    if (stderr.isTerminal) endText();
    if (questionIsOpen) void stderr.write('\n');
    questionIsOpen = false;
    for (const line of text.split('\n')) void stderr.write(`${paint(line, kind, colors)}\n`);
  }

  return {
    showsProgress: stderr.isTerminal,
    stdoutIsTerminal: stdout.isTerminal,
    text(text) {
      if (!stdout.isTerminal) return stdout.offer(text);
      clearProgress();
      const shown = sanitizer.push(text);
      if (shown === '') return undefined;
      textLineIsOpen = !shown.endsWith('\n');
      return stdout.offer(shown);
    },
    rendered(lines) {
      clearProgress();
      endText();
      return stdout.offer(lines);
    },
    line(text, kind = 'notice') {
      writeLines(sanitizeLine(text), kind);
    },
    block(text, kind = 'notice') {
      writeLines(sanitize(text.endsWith('\n') ? text.slice(0, -1) : text), kind);
    },
    progress(text) {
      if (!stderr.isTerminal) return;
      if (progressWidth === 0) endText();
      const { text: shown, width } = cutToColumns(sanitizeLine(text), stderr.columns() - 1);
      const padding = ' '.repeat(Math.max(0, progressWidth - width));
      stderr.offerFrame(`\r${shown}${padding}`);
      // Not the width of this one: on a terminal that is slow to read, a wider one may be the last that it shows.
      progressWidth = Math.max(progressWidth, width);
    },
    clearProgress,
    ask(text) {
      clearProgress();
      endText();
      void stderr.write(sanitizeLine(text));
      questionIsOpen = true;
    },
    answered() {
      questionIsOpen = false;
    },
    endText,
    async flush() {
      await Promise.all([stdout.flush(), stderr.flush()]);
    },
  };
}
