import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect } from 'vitest';

import { at, type Sandbox } from './support/sandbox.ts';
import { LAST_WORD, numbered, writeDocument } from './support/scripts.ts';
import { test } from './support/test.ts';
import { waitFor } from './support/wait.ts';

/** Hazard: a program that draws on a terminal loses what was on it, leaves it unusable, or waits for it. */

const SHELL = Array.from({ length: 40 }, (_, index) => `line ${index} of the shell`);
const FORBIDDEN =
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  /\u001B\[\?(?:47|1047|1048|1049|100\d|1015|1016)[hl]|\u001B\[[\d;]*r|\u001B\[[123]J|\u001B\[\d*[ST]|\u001Bc/u;
/** Paste mode, keyboard mode, wrapping, cursor. */
const RESTORED = '\u001B[?2004l\u001B[<u\u001B[?7h\u001B[?25h';
const STATUS = 'scripted · act';

describe('orion chat on a terminal', () => {
  test.concurrent('300 streamed lines appear once, in order, below the shell, over four widths', async ({
    machine,
  }) => {
    const lines = Array.from({ length: 300 }, (_, index) => `- line ${index} of the answer`);
    const provider = await machine.provider({
      shape: { chunk: { min: 1, max: 40 }, eventsPerSecond: 500 },
      behaviours: [{ reply: { text: lines.join('\n') } }],
    });
    const terminal = machine.terminal(['chat', ...at(provider)], {
      columns: 100,
      rows: 24,
      above: SHELL,
    });
    await terminal.waitForScreen(STATUS);
    terminal.type('Say it.\r');
    for (const [at, columns] of [
      [60, 70],
      [120, 45],
      [200, 90],
    ] as const) {
      await terminal.waitForScreen((screen) =>
        screen.lines.some((line) => line.includes(`line ${at} of`)),
      );
      terminal.resize(columns, 24);
    }
    await terminal.waitForScreen((screen) =>
      screen.lines.some((line) => line.includes('line 299 of')),
    );
    terminal.type('\u0004');
    const { exitCode, output } = await terminal.finished;
    expect(exitCode, output.slice(-500)).toBe(0);
    const screen = await terminal.screen();
    expect(screen.lines.slice(0, 40)).toEqual(SHELL);
    const shown = screen.lines.filter((line) => line.includes('of the answer'));
    expect(shown).toEqual(lines.map((line) => line.replace('-', '•')));
    expect(output).not.toMatch(FORBIDDEN);
    expect(output).toContain(RESTORED);
  });

  test.concurrent('Ctrl-Z gives the terminal back to the shell, fg draws again', async ({
    machine,
  }) => {
    const shell = await chatInShell(machine);
    shell.type('a draft');
    await shell.waitForScreen('> a draft');
    shell.type('\u001A');
    await shell.waitForScreen('Stopped');
    expect(shell.emulator().modes()).toEqual({ bracketedPaste: expect.any(Boolean), wraps: true });
    expect((await shell.screen()).rows.join('\n')).not.toContain(STATUS);
    shell.type('stty -a | grep -c " echo "; fg\r');
    await shell.waitForScreen(/1\n.*\n(?:.*\n)*.*> a draft/u);
    shell.type(' goes on');
    await sendAndLeave(shell);
  });

  test.concurrent('an editor that suspends the job has the keyboard to itself after fg', async ({
    machine,
  }) => {
    const editor = join(machine.home, 'editor');
    const script =
      '#!/bin/sh\nkill -TSTP 0\necho going on\nread line\nprintf "%s!" "$line" > "$1"\n';
    await writeFile(editor, script, { mode: 0o700 });
    const shell = await chatInShell(machine, { VISUAL: editor });
    shell.type('\u0007');
    await shell.waitForScreen('Stopped');
    shell.type('fg\r');
    await shell.waitForScreen(/^going on$/mu);
    shell.type('typed in the editor\r');
    await shell.waitForScreen('> typed in the editor!');
    await sendAndLeave(shell);
  });

  test.concurrent.for([
    ['SIGTERM', ''],
    ['SIGHUP', ''],
    ['SIGUSR2', 'throw new Error("a defect")'],
    ['SIGUSR2', 'process.exit(7)'],
  ] as const)('%s restores the terminal, and then: %s', async ([signal, defect], { machine }) => {
    const provider = await machine.provider({ behaviours: [LAST_WORD] });
    const code = encodeURIComponent(`process.on('SIGUSR2', () => { ${defect} })`);
    const terminal = machine.terminal(['chat', ...at(provider)], {
      env: { NODE_OPTIONS: `--import=data:text/javascript,${code}` },
    });
    await terminal.waitForScreen(STATUS);
    terminal.kill(signal);
    const { output } = await terminal.finished;
    expect(output).toContain(RESTORED);
    expect((await terminal.screen()).rows.join('\n')).not.toContain(STATUS);
  });

  for (const [face, tags] of [
    ['rich', []],
    ['plain', ['long']],
  ] as const) {
    const title = `a terminal that does not read stops nothing: the file is written, the turn ends (${face})`;
    test.concurrent(title, { tags: [...tags] }, async ({ machine }) => {
      const text = numbered('a line of the document with number', 1, 3000, 6);
      const lines = Array.from({ length: 3000 }, (_, index) => `- line ${index} of the answer`);
      const provider = await machine.provider({
        ...writeDocument({ target: 'a.txt', content: text }, { shape: { chunk: 4000 } }),
        behaviours: [
          ...writeDocument({ target: 'a.txt', content: text }).behaviours.slice(0, 2),
          { reply: { text: lines.join('\n') } },
        ],
      });
      const args = face === 'plain' ? ['--plain'] : [];
      const terminal = machine.terminal(['chat', ...args, ...at(provider)], { rows: 24 });
      await terminal.waitForOutput(face === 'plain' ? '> ' : STATUS);
      terminal.type('Write it.\r');
      terminal.pause();
      await waitFor('the whole file', () => machine.exists('a.txt'));
      expect(String(await machine.read('a.txt'))).toBe(text);
      await waitFor('the end of the answer', () => provider.requests.length === 3);
      terminal.resume();
      // Behind the end of the line: what is typed before is shown in it.
      await terminal.waitForOutput(`line 2999 of the answer${face === 'plain' ? '\r\n' : ''}`);
      terminal.type(face === 'plain' ? '/exit\r' : '\u0004');
      const { exitCode, output } = await terminal.finished;
      expect(exitCode).toBe(0);
      expect(output).toContain('Created a.txt: 3,000 lines');
      const shown = (await terminal.screen()).lines.filter((line) =>
        line.includes('of the answer'),
      );
      expect(shown.map((line) => line.slice(2))).toEqual(lines.map((line) => line.slice(2)));
      // oxlint-disable-next-line no-control-regex -- control characters are what this is about
      if (face === 'plain') expect(output).not.toMatch(/\u001B(?!\[[\d;]*m)/u);
    });
  }

  test.concurrent('a paste of 10,000 lines is sent as it is', async ({ machine }) => {
    const provider = await machine.provider({ behaviours: [LAST_WORD] });
    const terminal = machine.terminal(['chat', ...at(provider)]);
    await terminal.waitForScreen(STATUS);
    const text = Array.from(
      { length: 10_000 },
      (_, index) => `line ${index}\tof what is pasted`,
    ).join('\n');
    terminal.type(`Look: \u001B[200~${text.replaceAll('\n', '\r')}\u001B[201~`);
    await terminal.waitForScreen('> Look: [paste #1 +10000 lines]');
    terminal.type('\r');
    await terminal.waitForScreen('All written.');
    expect(JSON.stringify(provider.requests[0]?.body)).toContain(
      JSON.stringify(`Look: ${text}`).slice(1, -1),
    );
    terminal.type('\u0004');
    await terminal.finished;
  });
});

type Shell = ReturnType<Sandbox['programOnTerminal']>;

/** A conversation that was begun in a shell which controls jobs. */
async function chatInShell(
  machine: Sandbox,
  env: Readonly<Record<string, string>> = {},
): Promise<Shell> {
  const provider = await machine.provider({ behaviours: [LAST_WORD] });
  const shell = machine.programOnTerminal(['bash', '--norc', '--noprofile', '-i'], {
    rows: 24,
    env: { PS1: 'shell$ ', HISTFILE: '', ...env },
  });
  await shell.waitForOutput('shell$ ');
  const words = [process.execPath, ...machine.entry(), 'chat', ...at(provider)];
  shell.type(`${words.map((word) => `'${word}'`).join(' ')}\r`);
  await shell.waitForScreen(STATUS);
  return shell;
}

async function sendAndLeave(shell: Shell): Promise<void> {
  shell.type('\r');
  await shell.waitForScreen(/All written\.(?:.*\n)*.*\/ commands/u);
  shell.type('\u0004');
  await shell.waitForScreen(/All written\.\n+shell\$/u);
  shell.type('exit\r');
  await shell.finished;
}
