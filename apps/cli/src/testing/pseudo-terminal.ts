import { constants, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { ReadStream, WriteStream } from 'node:tty';

import * as pty from '@lydell/node-pty';
import type * as xterm from '@xterm/headless';
import { countLineFeeds } from '@orion/contracts';
import { expect, vi } from 'vitest';

import { openTerminalStream, type OutputStream } from '../process/output-stream.ts';
import { openTerminal, type TerminalDevice } from '../process/terminal-device.ts';
import { createTerminalQueue } from '../process/terminal-queue.ts';

/** A real terminal of this test: what is written to it is read by an emulator, as a person sees it. */
export type PseudoTerminal = {
  readonly stdin: ReadStream;
  readonly output: OutputStream;
  /** Every byte that was written. */
  bytes(): string;
  /** The visible rows without the blanks at their ends, once everything written until now is read. */
  rows(): Promise<readonly string[]>;
  /** Everything since the beginning, as lines: one that the terminal itself has wrapped is one. */
  lines(): Promise<readonly string[]>;
  cursor(): Promise<{ readonly row: number; readonly column: number }>;
  /** Waits until the visible rows contain it. */
  shows(text: string | RegExp): Promise<void>;
  type(text: string): void;
  /** Types more than the terminal keeps for its reader, who is in this process. */
  typeAll(text: string): Promise<void>;
  /** Once everything written until now is read; while reading is paused, ahead of what was written. */
  resize(columns: number, rows: number): Promise<void>;
  /** Stops reading what is written, as after Ctrl-S. */
  pause(): void;
  resume(): void;
  /** What a person sees above; nothing that is under test has written it. */
  writeBefore(text: string): void;
  readonly emulator: xterm.Terminal;
  dispose(): void;
};

// A CommonJS module, whose names Node does not find.
const { Terminal } = createRequire(import.meta.url)('@xterm/headless') as typeof xterm;

const PATIENCE = { timeout: 5000, interval: 2 };

export async function openPseudoTerminal(columns = 80, rows = 24): Promise<PseudoTerminal> {
  // Keeps the terminal open, and does nothing.
  const child = pty.spawn('sh', ['-c', 'tty; exec sleep 300'], { cols: columns, rows });
  const path = await new Promise<string>((resolve) => {
    let said = '';
    const reading = child.onData((text) => {
      said += text;
      const name = /^(\/dev\/\S+)\r?\n/u.exec(said)?.[1];
      if (name === undefined) return;
      reading.dispose();
      resolve(name);
    });
  });
  const { O_RDWR, O_NOCTTY } = constants;
  const stdin = new ReadStream(openSync(path, O_RDWR | O_NOCTTY));
  const fd = openSync(path, O_RDWR | O_NOCTTY);
  const stdout = new WriteStream(fd);
  const device = openTerminal(fd);
  if (device === null) throw new Error('the terminal cannot be opened without blocking');
  let expected = 0;
  const counting: TerminalDevice = {
    id: device.id,
    write(data) {
      const count = device.write(data);
      // The terminal puts a carriage return before each line feed.
      expected += count + countLineFeeds(data.subarray(0, count));
      return count;
    },
  };
  const emulator = new Terminal({
    cols: columns,
    rows,
    scrollback: 200_000,
    allowProposedApi: true,
  });
  let bytes = '';
  let received = 0;
  let paused = false;
  child.onData((text) => {
    bytes += text;
    received += Buffer.byteLength(text);
    emulator.write(text);
  });

  const read = async (): Promise<void> => {
    await vi.waitFor(() => expect(received).toBeGreaterThanOrEqual(expected), PATIENCE);
    await new Promise<void>((resolve) => emulator.write('', resolve));
  };
  const lineAt = (index: number): string =>
    emulator.buffer.active.getLine(index)?.translateToString(true) ?? '';

  async function visibleRows(): Promise<readonly string[]> {
    await read();
    const { baseY } = emulator.buffer.active;
    return Array.from({ length: emulator.rows }, (_, row) => lineAt(baseY + row).trimEnd());
  }

  return {
    stdin,
    output: openTerminalStream(stdout, createTerminalQueue(counting)),
    bytes: () => bytes,
    rows: visibleRows,
    async lines() {
      await read();
      const { active } = emulator.buffer;
      const lines: string[] = [];
      for (let index = 0; index < active.length; index += 1) {
        const begun = active.getLine(index)?.isWrapped === true ? (lines.pop() ?? '') : '';
        lines.push(`${begun}${lineAt(index)}`);
      }
      const trimmed = lines.map((line) => line.trimEnd());
      return trimmed.slice(0, trimmed.findLastIndex((line) => line !== '') + 1);
    },
    async cursor() {
      await read();
      return { row: emulator.buffer.active.cursorY, column: emulator.buffer.active.cursorX };
    },
    shows: (text) =>
      vi.waitFor(async () => {
        const shown = (await visibleRows()).join('\n');
        if (typeof text === 'string') expect(shown).toContain(text);
        else expect(shown).toMatch(text);
      }, PATIENCE),
    type: (text) => child.write(text),
    async typeAll(text) {
      for (let at = 0; at < text.length; at += 1000) {
        child.write(text.slice(at, at + 1000));
        await turnOfTheLoop();
      }
    },
    async resize(newColumns, newRows) {
      if (!paused) await read();
      emulator.resize(newColumns, newRows);
      child.resize(newColumns, newRows);
      // Only the process whose terminal it is hears of it.
      (stdout as unknown as { _refreshSize(): void })._refreshSize();
    },
    pause() {
      paused = true;
      child.pause();
    },
    resume() {
      paused = false;
      child.resume();
    },
    writeBefore: (text) => emulator.write(text),
    emulator,
    dispose() {
      stdin.destroy();
      stdout.destroy();
      child.kill('SIGKILL');
    },
  };
}
