import { setTimeout as pause } from 'node:timers/promises';

import { countLineFeeds } from '@orion/contracts';

import type { OutputStream } from '../../process/output-stream.ts';
import { leftOutLine } from '../../process/terminal-queue.ts';

/**
 * The last rows of the screen, which change, below a transcript, which does not.
 *
 * I1. Finished text is printed once, as ordinary lines, and never touched again: no other screen, no mouse, no scroll
 *     region, and the only erasing is from the region's first row downwards.
 * I2. Only the region is redrawn, and only when it changed: one write a frame, in synchronised output, at most 30 frames
 *     a second. It has at most 12 rows and never all of the screen's.
 * I3. Automatic wrapping is off while the region is drawn, so that a character that the terminal takes for wider than we
 *     do cannot move it by a row; and on for the transcript.
 * I4. The terminal's own cursor is at the caret, visible: what is before the caret is written once more, so that it is
 *     the terminal that measures it.
 * I5. What is printed or drawn was made harmless before; here nothing is looked at but widths.
 * I6. After a change of width the rows of the old region are counted as the terminal has wrapped them, and erased. Those
 *     of a frame that was written just before may have reached the terminal after the change, unwrapped: they are counted
 *     once, and so is the row of the caret. Better a stale row than a lost line of the transcript. Nothing is drawn while
 *     the size keeps changing.
 * I7. Leaving restores paste mode, keyboard mode, wrapping and cursor, in this order; entering draws anew.
 * I8. The next frame is made when the terminal has the last one: a terminal that does not read costs frames first, then,
 *     above 1 MiB, the oldest lines that wait, and one line says how many. What is to be there whole is never left out,
 *     and waits for it; nothing else does.
 */
export type LiveRegion = {
  /** Adds to the transcript. Whole lines, each with its line feed. */
  print(text: string): void;
  /** The same for lines none of which may be left out. */
  printWhole(text: string): void;
  draw(frame: Frame): void;
  /** Draws although nothing changed: the screen has another size. */
  redraw(): void;
  /** Another program has used the terminal: what is on the screen stays there. */
  forget(): void;
  /** A control sequence that prints nothing. */
  emit(sequence: string): void;
  /** Settles when the terminal has everything. */
  settled(): Promise<void>;
  /** Settles when little waits to be printed. */
  room(): Promise<void>;
  /** Takes the region from the screen and restores the terminal. Settles soon, even when it does not read. */
  leave(): Promise<void>;
  enter(): void;
};

export type Frame = {
  /** May have colours, each ended in its row. */
  readonly rows: readonly string[];
  readonly caret: Caret;
};

export type Caret = {
  readonly row: number;
  /** The beginning of its row, up to the caret. */
  readonly before: string;
};

export type LiveRegionOptions = {
  readonly output: OutputStream;
  /** Columns that a row takes. */
  readonly widthOf: (row: string) => number;
  /** Whether the terminal wraps its rows anew when it gets narrower. */
  readonly rewraps: boolean;
};

export const MAX_REGION_ROWS = 12;
/** Back to what a shell expects: pasted text, keys, wrapping, cursor (I7). */
export const RESTORE = '\u001B[?2004l\u001B[<u\u001B[?7h\u001B[?25h';

const PREPARE = '\u001B[?2004h\u001B[>1u\u001B[?25h';
const BEGIN_FRAME = '\u001B[?2026h';
const END_FRAME = '\u001B[?2026l';
const WRAP = '\u001B[?7h';
const NO_WRAP = '\u001B[?7l';
const ERASE_BELOW = '\u001B[J';
const FRAME_MS = 1000 / 30;
/** How long a frame may take to reach the terminal. */
const ON_ITS_WAY_MS = 250;
/** Whoever drags the edge of a window changes its size many times. */
const SIZE_SETTLES_MS = 100;
const MAX_WAITING = 1024 * 1024;
const LITTLE_WAITING = 256 * 1024;
/** How long a terminal that does not read can keep us from leaving. */
const LEAVE_MS = 500;
const NOTHING: Frame = { rows: [], caret: { row: 0, before: '' } };

export function createLiveRegion({ output, widthOf, rewraps }: LiveRegionOptions): LiveRegion {
  const transcript = createWaitingLines();
  let sequences = '';
  let wanted = NOTHING;
  /** What the screen shows of which frame; null when that is not known any more. */
  let shownOf: Frame | null = NOTHING;
  let shown = NOTHING;
  let entered = false;
  let lastFrameAt = Number.NEGATIVE_INFINITY;
  let resizedAt = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | null = null;

  const isDirty = (): boolean =>
    entered && (transcript.length() > 0 || sequences !== '' || !isSame(wanted, shownOf));

  function wake(): void {
    if (running === null && isDirty()) running = run();
  }

  async function run(): Promise<void> {
    while (isDirty()) {
      do await pause(Math.max(0, dueIn()));
      while (dueIn() > 0);
      if (!isDirty()) break;
      send(wanted, '');
      await output.flush();
    }
    running = null;
  }

  /** Milliseconds until the next frame may be drawn. */
  function dueIn(): number {
    return Math.max(lastFrameAt + FRAME_MS, resizedAt + SIZE_SETTLES_MS) - performance.now();
  }

  function send(next: Frame, last: string): void {
    const text = transcript.take().replaceAll('\n', '\r\n');
    const erased = shown.rows.length === 0 ? '' : `${up(rowsAboveCaret())}\r${ERASE_BELOW}`;
    const printed = text === '' ? '' : `${WRAP}${text}`;
    lastFrameAt = performance.now();
    shownOf = next;
    shown = fitted(next, output.rows());
    const region = shown.rows.length === 0 ? '' : `${NO_WRAP}${drawing(shown)}`;
    void output.write(`${BEGIN_FRAME}${erased}${printed}${sequences}${region}${last}${END_FRAME}`);
    sequences = '';
  }

  /** How many rows the terminal has between the first row of the region and its cursor (I6). */
  function rowsAboveCaret(): number {
    const columns = output.columns();
    const isWrapped = rewraps && resizedAt - lastFrameAt > ON_ITS_WAY_MS;
    return shown.rows
      .slice(0, shown.caret.row)
      .map((row) => (isWrapped ? Math.max(1, Math.ceil(widthOf(row) / columns)) : 1))
      .reduce((sum, height) => sum + height, 0);
  }

  async function settled(): Promise<void> {
    while (running !== null) await running;
  }

  async function leave(): Promise<void> {
    if (!entered) return;
    entered = false;
    send(NOTHING, RESTORE);
    await Promise.race([output.flush(), pause(LEAVE_MS, undefined, { ref: false })]);
  }

  return {
    print(text) {
      transcript.add(text);
      wake();
    },
    printWhole(text) {
      transcript.addWhole(text);
      wake();
    },
    draw(frame) {
      wanted = frame;
      wake();
    },
    redraw() {
      resizedAt = performance.now();
      shownOf = null;
      wake();
    },
    forget() {
      shown = NOTHING;
      shownOf = null;
      sequences = `${PREPARE}${sequences}`;
      wake();
    },
    emit(sequence) {
      sequences += sequence;
      wake();
    },
    settled,
    async room() {
      if (transcript.length() > LITTLE_WAITING) await settled();
    },
    leave,
    enter() {
      if (entered) return;
      entered = true;
      sequences = `${PREPARE}${sequences}`;
      wake();
    },
  };
}

/** What waits to be printed: whole lines, of which the oldest are left out when there are too many (I8). */
function createWaitingLines() {
  /** Nothing of it is left out any more. */
  let kept = '';
  let parts: string[] = [];
  let length = 0;
  let leftOut = 0;

  function leaveOut(): void {
    const text = parts.join('');
    const end = text.indexOf('\n', text.length - MAX_WAITING / 2) + 1;
    leftOut += countLineFeeds(text.slice(0, end));
    parts = [text.slice(end)];
    length = text.length - end;
  }

  function take(): string {
    const before = leftOut === 0 ? '' : `${leftOutLine(leftOut)}\n`;
    const text = `${kept}${before}${parts.join('')}`;
    kept = '';
    parts = [];
    length = 0;
    leftOut = 0;
    return text;
  }

  return {
    length: () => kept.length + length,
    add(text: string): void {
      parts.push(text);
      length += text.length;
      if (length > MAX_WAITING) leaveOut();
    },
    addWhole(text: string): void {
      kept = `${take()}${text}`;
    },
    take,
  };
}

/** What there is room for: the last rows (I2). */
function fitted({ rows, caret }: Frame, screenRows: number): Frame {
  const cut = Math.max(0, rows.length - Math.min(MAX_REGION_ROWS, screenRows - 1));
  return {
    rows: rows.slice(cut),
    caret: { ...caret, row: Math.max(0, caret.row - cut) },
  };
}

/** The rows, and the way from the end of the last one to the caret. */
function drawing({ rows, caret }: Frame): string {
  return `${rows.join('\r\n')}${up(rows.length - 1 - caret.row)}\r${caret.before}`;
}

function up(rows: number): string {
  return rows === 0 ? '' : `\u001B[${rows}A`;
}

function isSame(one: Frame, other: Frame | null): boolean {
  return (
    other !== null &&
    one.caret.row === other.caret.row &&
    one.caret.before === other.caret.before &&
    one.rows.length === other.rows.length &&
    one.rows.every((row, index) => row === other.rows[index])
  );
}
