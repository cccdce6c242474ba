import { describe, expect } from 'vitest';

import { at } from './support/sandbox.ts';
import { LAST_WORD, numbered, writeDocument } from './support/scripts.ts';
import { longTest, test } from './support/test.ts';

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

  test.concurrent('is what `orion` alone means on a terminal, with every option a variable', async ({
    machine,
  }) => {
    const provider = await machine.provider({ behaviours: [LAST_WORD] });
    const env = { ORION_BASE_URL: provider.url, ORION_MODEL: 'scripted' };
    const silent = { ...env, ORION_PLAIN: 'true', ORION_NO_BELL: 'true' };
    const terminal = machine.terminal([], { env: silent });
    await terminal.waitForOutput('orion 0.');
    terminal.type('Hello.\r');
    await terminal.waitForOutput('Turn ended: done.');
    terminal.kill('SIGHUP');
    const { exitCode, output } = await terminal.finished;
    expect(exitCode, output).toBe(0);
    expect(output).not.toContain('\u0007');
    // No cursor movement at all.
    for (const part of output.split('\u001B').slice(1)) expect(part).toMatch(/^\[[\d;]*m/u);
    const missing = await machine.terminal(['chat']).finished;
    expect(missing.exitCode).toBe(2);
    expect(missing.output).toContain('MODEL_MISSING');
    for (const step of ['--model', 'config.json', 'OPENAI_API_KEY', '`orion doctor`']) {
      expect(missing.output).toContain(step);
    }
  });

  longTest('offers each start what --continue and --resume name', async ({ machine }) => {
    const provider = await machine.provider({ behaviours: [LAST_WORD] });
    const first = machine.terminal(['chat', '--plain', ...at(provider)]);
    await first.waitForOutput('orion 0.');
    first.type('My first words.\r');
    await first.waitForOutput('Turn ended: done.');
    first.type('\u0004');
    await first.finished;
    const second = machine.terminal(['chat', '--plain', '--continue', ...at(provider)]);
    await second.waitForOutput('orion 0.');
    second.type('And more.\r');
    await second.waitForOutput('Turn ended: done.');
    expect(JSON.stringify(provider.requests.at(-1)?.body)).toContain('My first words.');
    second.type('\u0004');
    expect((await second.finished).exitCode).toBe(0);
    const none = await machine.terminal(['chat', '--resume', 'none', ...at(provider)]).finished;
    expect(none.exitCode).toBe(1);
    expect(none.output).toContain('CONVERSATION_NOT_FOUND');
  });

  test.concurrent('needs a terminal', async ({ machine }) => {
    const provider = await machine.provider({ behaviours: [LAST_WORD] });
    const ended = await machine.run(['chat', ...at(provider)], { stdin: 'Hello.' });
    expect(ended.exitCode).toBe(2);
    expect(ended.stderr).toContain('orion run');
  });
});
