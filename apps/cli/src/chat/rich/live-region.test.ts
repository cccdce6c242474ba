import { afterEach, describe, expect, it } from 'vitest';

import { openPseudoTerminal, type PseudoTerminal } from '../../testing/pseudo-terminal.ts';
import { widthOf } from './line-editor.ts';
import { createLiveRegion, MAX_REGION_ROWS, RESTORE, type LiveRegion } from './live-region.ts';

/** Hazard: a screen that is redrawn loses or repeats what was on it, and stays broken when the program has ended. */

const terminals: PseudoTerminal[] = [];
afterEach(() => {
  for (const terminal of terminals.splice(0)) {
    expect(terminal.bytes()).not.toMatch(FORBIDDEN);
    terminal.dispose();
  }
});

/** Another screen, mouse modes, scroll regions, erasing of more than what is below, scrolling by command. */
const FORBIDDEN =
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  /\u001B\[\?(?:47|1047|1048|1049|100\d|1015|1016)[hl]|\u001B\[[\d;]*r|\u001B\[[123]J|\u001B\[\d*[ST]|\u001Bc/u;

async function open(
  columns = 60,
  rows = 12,
): Promise<{ readonly terminal: PseudoTerminal; readonly region: LiveRegion }> {
  const terminal = await openPseudoTerminal(columns, rows);
  terminals.push(terminal);
  const region = createLiveRegion({ output: terminal.output, widthOf, rewraps: true });
  terminal.writeBefore(Array.from({ length: 40 }, (_, index) => `shell ${index}\r\n`).join(''));
  region.enter();
  return { terminal, region };
}

const shell = Array.from({ length: 40 }, (_, index) => `shell ${index}`);
const frame = (rows: readonly string[], row = 0, before = '') => ({ rows, caret: { row, before } });

it('I1: what is printed is there once, in order, below what the shell had left', async () => {
  const { terminal, region } = await open();
  for (let line = 0; line < 300; line += 1) {
    region.print(`line ${line}\n`);
    region.draw(frame([`row ${line}`, 'status']));
    if (line % 60 === 0) await region.settled();
  }
  await region.settled();
  expect(await terminal.lines()).toEqual([
    ...shell,
    ...Array.from({ length: 300 }, (_, index) => `line ${index}`),
    'row 299',
    'status',
  ]);
});

describe('I2: only the region is redrawn', () => {
  it('by one write a frame, at most 30 a second, and only when it changed', async () => {
    const { terminal, region } = await open();
    const before = performance.now();
    for (let step = 0; step < 20; step += 1) {
      region.draw(frame([`step ${step}`]));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await region.settled();
    const seconds = (performance.now() - before) / 1000;
    const frames = terminal.bytes().split('\u001B[?2026h').length - 1;
    expect(frames).toBeGreaterThan(1);
    expect(frames).toBeLessThanOrEqual(Math.ceil(seconds * 30) + 1);
    expect(terminal.bytes().split('\u001B[?2026l')).toHaveLength(frames + 1);
    const { length } = terminal.bytes();
    region.draw(frame(['step 19']));
    await region.settled();
    expect(terminal.bytes()).toHaveLength(length);
  });

  it('has at most 12 rows, and leaves one of the screen: the last ones are shown', async () => {
    const { terminal, region } = await open(60, 24);
    const rows = Array.from({ length: 20 }, (_, index) => `row ${index}`);
    region.draw(frame(rows, 19, 'row'));
    await region.settled();
    await terminal.shows('row 19');
    expect((await terminal.rows()).filter((row) => row.startsWith('row'))).toEqual(
      rows.slice(-MAX_REGION_ROWS),
    );
    await terminal.resize(60, 8);
    region.redraw();
    await region.settled();
    expect((await terminal.rows()).filter((row) => row !== '')).toEqual(rows.slice(-7));
  });
});

it('I3: wrapping is off for the region and on for the transcript', async () => {
  const { terminal, region } = await open(40);
  // Two columns for us, eight for this terminal.
  const family = '\u{1F468}\u200D\u{1F469}\u200D\u{1F467}\u200D\u{1F466}';
  for (let step = 0; step < 3; step += 1) {
    region.draw(frame([`${family.repeat(18)}${step}`, 'status']));
    await region.settled();
  }
  region.print(`${'long '.repeat(20)}end\n`);
  await region.settled();
  expect(terminal.emulator.modes.wraparoundMode).toBe(false);
  const lines = await terminal.lines();
  expect(lines.slice(0, 41)).toEqual([...shell, `${'long '.repeat(20)}end`]);
  expect(lines).toHaveLength(43);
});

it('I4: the cursor is at the caret, where the terminal itself measures it', async () => {
  const { terminal, region } = await open();
  region.draw(frame(['one', '> a日本\u0301z', 'status'], 1, '> a日本\u0301'));
  await region.settled();
  const rows = await terminal.rows();
  const cursor = await terminal.cursor();
  expect(rows[cursor.row]).toBe('> a日本\u0301z');
  expect(cursor.column).toBe(7);
  expect(terminal.bytes()).toContain('\u001B[?25h');
  expect(terminal.bytes()).not.toContain('\u001B[?25l');
});

describe('I6: no line of the transcript is lost or repeated', () => {
  const draw = (region: LiveRegion, columns: number): void => {
    const rule = '─'.repeat(columns);
    region.draw(frame([rule, '> what is typed', rule, 'status'], 1, '> what'));
  };

  it.each([
    ['an old frame', 60, 35],
    ['an old frame', 60, 90],
    ['an old frame', 60, 21],
    ['an old frame', 100, 41],
    ['a new frame', 60, 35],
    ['a new frame', 60, 21],
    ['a frame on its way', 60, 35],
    ['a frame on its way', 60, 90],
    ['a frame on its way', 100, 21],
  ])('%s of %i columns, when there are %i', async (which, from, to) => {
    const { terminal, region } = await open(from);
    region.print('before\n');
    await region.settled();
    if (which === 'a frame on its way') {
      await terminal.rows();
      terminal.pause();
    }
    draw(region, from);
    await region.settled();
    if (which === 'an old frame') await new Promise((resolve) => setTimeout(resolve, 260));
    await terminal.resize(to, 12);
    terminal.resume();
    draw(region, to);
    region.redraw();
    await region.settled();
    region.print('after\n');
    await region.settled();
    const lines = await terminal.lines();
    const isTranscript = (line: string): boolean => /^(?:shell|before|after)/u.test(line);
    expect(lines.filter(isTranscript)).toEqual([...shell, 'before', 'after']);
    expect(lines.slice(-4)).toEqual(['─'.repeat(to), '> what is typed', '─'.repeat(to), 'status']);
    // Stale rows may stay, no more than one of the old frame when the terminal has surely wrapped it.
    expect(lines.length - shell.length - 2 - 4).toBeLessThanOrEqual(
      which === 'a new frame' ? 2 : 1,
    );
  });

  it('and one frame is drawn for many sizes that follow each other', async () => {
    const { terminal, region } = await open(60);
    draw(region, 60);
    await region.settled();
    const frames = (): number => terminal.bytes().split('\u001B[?2026h').length;
    await terminal.rows();
    const before = frames();
    for (let columns = 59; columns > 40; columns -= 1) {
      await terminal.resize(columns, 12);
      draw(region, columns);
      region.redraw();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await region.settled();
    await terminal.rows();
    expect(frames() - before).toBeLessThanOrEqual(2);
  });
});

it('I7: leaving restores the terminal and takes the region away, entering draws anew', async () => {
  const { terminal, region } = await open();
  region.draw(frame(['row', 'status'], 0, 'row'));
  await region.settled();
  await terminal.rows();
  expect(terminal.emulator.modes.bracketedPasteMode).toBe(true);
  region.print('last words\n');
  await region.leave();
  expect(await terminal.lines()).toEqual([...shell, 'last words']);
  expect(terminal.emulator.modes).toMatchObject({
    bracketedPasteMode: false,
    wraparoundMode: true,
  });
  expect(terminal.bytes()).toContain(RESTORE);
  expect(await terminal.cursor()).toEqual({ row: 11, column: 0 });
  region.print('meanwhile\n');
  region.enter();
  await region.settled();
  expect((await terminal.lines()).slice(40)).toEqual(['last words', 'meanwhile', 'row', 'status']);
});

describe('I8: a terminal that does not read', () => {
  it('costs frames first, then the oldest lines, and says how many', async () => {
    const { terminal, region } = await open();
    terminal.pause();
    const count = 9000;
    for (let line = 0; line < count; line += 1) {
      region.print(`line ${String(line).padStart(300, '0')}\n`);
      if (line % 300 === 0) {
        region.draw(frame([`row ${line}`]));
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    }
    terminal.resume();
    await region.settled();
    const lines = (await terminal.lines()).slice(40);
    const notes = lines.map((line) => /^\[([\d,]+) lines left out:/u.exec(line)?.[1] ?? '0');
    const leftOut = notes.reduce((sum, note) => sum + Number(note.replaceAll(',', '')), 0);
    expect(leftOut).toBeGreaterThan(1000);
    const printed = lines
      .filter((line) => line.startsWith('line'))
      .map((line) => Number(line.slice(5)));
    expect(printed).toHaveLength(count - leftOut);
    // Half of the limit is kept.
    expect(printed.length).toBeGreaterThan(1600);
    expect(printed.at(-1)).toBe(count - 1);
    expect(printed).toEqual(printed.toSorted((one, other) => one - other));
    expect(lines.at(-1)).toBe('row 8700');
  });

  it('does not keep us from leaving', async () => {
    const { terminal, region } = await open();
    terminal.pause();
    for (let line = 0; line < 10_000; line += 1) region.print(`line ${line}\n`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await region.leave();
    terminal.resume();
  });
});
