import { createRequire } from 'node:module';

import type * as xterm from '@xterm/headless';

/** What a person sees, each row without the blanks at its end. */
export type Screen = {
  /** The visible rows, from the top. */
  readonly rows: readonly string[];
  /** The rows that have left the screen at its top, oldest first. */
  readonly scrolledOff: readonly string[];
  /** All of it as lines: a line that the terminal itself has wrapped is one. Empty rows at the end are left out. */
  readonly lines: readonly string[];
  readonly cursor: { readonly row: number; readonly column: number };
};

/** A terminal emulator. */
export type Emulator = {
  write(data: string): void;
  resize(columns: number, rows: number): void;
  /** Once everything is read that was written until now. */
  screen(): Promise<Screen>;
  /** Whether pasted text is announced, the keys are reported in full and the cursor is shown. */
  modes(): { readonly bracketedPaste: boolean; readonly wraps: boolean };
};

// A CommonJS module, whose names Node does not find.
const { Terminal } = createRequire(import.meta.url)('@xterm/headless') as typeof xterm;

export function createEmulator(columns: number, rows: number): Emulator {
  const terminal = new Terminal({
    cols: columns,
    rows,
    scrollback: 200_000,
    allowProposedApi: true,
  });
  return {
    write: (data) => terminal.write(data),
    // What was written before was written for the old size.
    resize: (newColumns, newRows) => terminal.write('', () => terminal.resize(newColumns, newRows)),
    async screen() {
      await new Promise<void>((resolve) => terminal.write('', resolve));
      return readScreen(terminal);
    },
    modes: () => ({
      bracketedPaste: terminal.modes.bracketedPasteMode,
      wraps: terminal.modes.wraparoundMode,
    }),
  };
}

function readScreen(terminal: xterm.Terminal): Screen {
  const { active } = terminal.buffer;
  const all: string[] = [];
  const lines: string[] = [];
  for (let index = 0; index < active.length; index += 1) {
    const line = active.getLine(index);
    if (line === undefined) continue;
    all.push(line.translateToString(true));
    if (line.isWrapped) lines.push(`${lines.pop() ?? ''}${line.translateToString(true)}`);
    else lines.push(line.translateToString(true));
  }
  const rows = all.map((row) => row.trimEnd());
  const trimmed = lines.map((line) => line.trimEnd());
  return {
    rows: rows.slice(active.baseY, active.baseY + terminal.rows),
    scrolledOff: rows.slice(0, active.baseY),
    lines: trimmed.slice(0, trimmed.findLastIndex((line) => line !== '') + 1),
    cursor: { row: active.cursorY, column: active.cursorX },
  };
}
