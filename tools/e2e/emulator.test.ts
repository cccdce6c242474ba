import { describe, expect } from 'vitest';

import { test } from './support/test.ts';

/** Hazard: a test that looks at a screen proves nothing when the screen is read wrongly. */

const LONG_LINE = `${'0123456789'.repeat(9)}|`;

describe('a program on a terminal that a test looks at', () => {
  test.concurrent('its rows, what has scrolled off, its cursor, another size', async ({
    machine,
  }) => {
    const terminal = machine.programOnTerminal(
      [
        'sh',
        '-c',
        `seq 1 12; printf '%s' '${LONG_LINE}'; read a; stty size; printf '\\n%s' '${LONG_LINE}'; read b`,
      ],
      { columns: 60, rows: 8, above: ['of the shell'] },
    );
    const before = await terminal.waitForScreen(/\|\n*$/u);
    expect(before.scrolledOff).toEqual(['of the shell', '1', '2', '3', '4', '5', '6']);
    expect(before.rows).toEqual([
      '7',
      '8',
      '9',
      '10',
      '11',
      '12',
      LONG_LINE.slice(0, 60),
      LONG_LINE.slice(60),
    ]);
    expect(before.lines).toHaveLength(14);
    expect(before.cursor).toEqual({ row: 7, column: 31 });

    terminal.resize(100, 8);
    terminal.type('\r');
    const after = await terminal.waitForScreen(`8 100\n\n${LONG_LINE}`);
    expect(after.cursor.row).toBe(7);
  });

  test.concurrent('what it waits for in vain is named with the screen', async ({ machine }) => {
    const terminal = machine.programOnTerminal(['sh', '-c', 'echo here']);
    await expect(terminal.waitForScreen('there')).rejects.toThrow(/ended; wanted there on\nhere/u);
  });
});
