import { describe, expect } from 'vitest';

import { at } from './support/sandbox.ts';
import { LAST_WORD, numbered, writeDocument } from './support/scripts.ts';
import { test } from './support/test.ts';

/** Hazard: a conversation does not begin, does not end, or loses what is said in it. R075. */

const TEXT = numbered('line', 1, 40);

describe('orion chat', () => {
  test.concurrent('answers, writes a file and leaves', async ({ machine }) => {
    const provider = await machine.provider(writeDocument({ target: 'a.txt', content: TEXT }));
    const terminal = machine.terminal(['chat', '--plain', ...at(provider)]);
    await terminal.waitForOutput('> ');
    terminal.type('Write it.\r');
    await terminal.waitForOutput('All written.');
    await terminal.waitForOutput('Turn ended: done, 1 file.');
    expect(String(await machine.read('a.txt'))).toBe(TEXT);
    terminal.type('And again.\r');
    await terminal.waitForOutput('Turn ended', 2);
    terminal.type('/exit\r');
    const { exitCode, output } = await terminal.finished;
    expect(exitCode, output).toBe(0);
    expect(output).toMatch(
      /Created a\.txt: 40 lines, \d+ bytes, sha256 [0-9a-f]{12}\. \/undo takes it back\./u,
    );
  });

  test.concurrent('needs a terminal', async ({ machine }) => {
    const provider = await machine.provider({ behaviours: [LAST_WORD] });
    const ended = await machine.run(['chat', ...at(provider)], { stdin: 'Hello.' });
    expect(ended.exitCode).toBe(2);
    expect(ended.stderr).toContain('orion run');
  });
});
