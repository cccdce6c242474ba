import { describe, expect } from 'vitest';

import { at } from './support/sandbox.ts';
import { numbered, writeDocument } from './support/scripts.ts';
import { longTest, test } from './support/test.ts';
import { waitFor } from './support/wait.ts';

/**
 * Hazard: Node writes to a terminal with calls that block. While its reader pauses (Ctrl-S, a remote shell that sleeps)
 * nothing else happens in the process: no text is saved, no signal is heard.
 */

const LINES = 60_000;
const TEXT = numbered('a line of the document with number', 1, LINES, 6);
const LEFT_OUT = /\[([\d,]+) lines left out: the terminal did not read what was written to it\]/u;

describe('R278: a terminal that does not read delays nothing', () => {
  longTest(
    'run --show-content: the file is written while it waits, what it did not show is counted',
    async ({ machine }) => {
      const provider = await machine.provider(
        writeDocument({ target: 'a.txt', content: TEXT }, { shape: { chunk: 4000 } }),
      );
      const terminal = machine.terminal(['run', 'Write it.', '--show-content', ...at(provider)]);
      await terminal.waitForOutput('what the model writes now is the file');
      terminal.pause();

      await waitFor('the whole file', () => machine.exists('a.txt'));
      expect(String(await machine.read('a.txt'))).toBe(TEXT);
      expect(terminal.output()).not.toContain('Created a.txt');

      terminal.resume();
      const ended = await terminal.finished;
      expect(ended.exitCode, ended.output.slice(-2000)).toBe(0);
      expect(ended.output).toContain('Created a.txt: 60,000 lines');
      // Every line is shown or counted, in order.
      const output = ended.output.replaceAll('\r\n', '\n');
      const counts = [...output.matchAll(new RegExp(LEFT_OUT, 'gu'))].map((match) =>
        Number(match[1]?.replaceAll(',', '')),
      );
      const shown = [...output.matchAll(/^a line of the document with number (\d{6})$/gmu)].map(
        (match) => Number(match[1]),
      );
      expect(counts.length).toBeGreaterThan(0);
      expect(shown).toEqual(shown.toSorted((one, other) => one - other));
      expect(shown.at(-1)).toBe(LINES);
      // The line at which it stopped is begun, and its rest is among those that were left out.
      const missing = LINES - shown.length;
      const counted = counts.reduce((sum, count) => sum + count, 0);
      expect(Math.abs(missing - counted)).toBeLessThanOrEqual(counts.length);
    },
  );

  for (const [face, tags] of [
    ['rich', []],
    ['plain', ['long']],
  ] as const) {
    const title = `chat, ${face}: the file keeps its pace, the turn ends, and what it did not show is counted`;
    test.concurrent(title, { tags: [...tags] }, async ({ machine }) => {
      const provider = await machine.provider(
        writeDocument({ target: 'a.txt', content: TEXT }, { shape: { chunk: 4000 } }),
      );
      const args = ['chat', '--show-content', ...at(provider)];
      const terminal = machine.terminal(face === 'plain' ? [...args, '--plain'] : args);
      await terminal.waitForOutput('orion 0.');
      terminal.type('Write it.\r');
      await terminal.waitForOutput('what the model writes now is the file');
      terminal.pause();

      await waitFor('the whole file', () => machine.exists('a.txt'));
      expect(String(await machine.read('a.txt'))).toBe(TEXT);
      await waitFor('the last word of the model', () => provider.requests.length === 3);
      expect(terminal.output()).not.toContain('Created a.txt');

      terminal.resume();
      await terminal.waitForOutput('Created a.txt: 60,000 lines');
      await terminal.waitForOutput('All written.');
      terminal.type('\u0004');
      const ended = await terminal.finished;
      expect(ended.exitCode, ended.output.slice(-2000)).toBe(0);
      expect(ended.output).toMatch(LEFT_OUT);
    });
  }

  test.concurrent(
    'recover-session: so does the rest of a file',
    { tags: ['long'] },
    async ({ machine }) => {
      const provider = await machine.provider(
        writeDocument(
          { target: 'a.txt', content: TEXT },
          {
            shape: { chunk: 4000 },
            faults: [{ kind: 'stall', reply: 1, at: { lines: 100 } }],
          },
        ),
      );
      const { session } = await machine.askUntilKilled(provider, 1000);

      const terminal = machine.terminal([
        'recover-session',
        session.id,
        '--show-content',
        ...at(provider),
      ]);
      await terminal.waitForOutput('Continuing a.txt');
      terminal.pause();
      await waitFor('the whole file', () => machine.exists('a.txt'));
      expect(String(await machine.read('a.txt'))).toBe(TEXT);
      terminal.resume();
      const ended = await terminal.finished;
      expect(ended.exitCode, ended.output.slice(-2000)).toBe(0);
      expect(ended.output).toMatch(LEFT_OUT);
      expect(ended.output).toContain('Created a.txt: 60,000 lines');
    },
  );

  longTest(
    'apply-plan: all is closed while its words wait, and a signal ends it in time',
    async ({ machine }) => {
      const operations = Array.from({ length: 600 }, (_, number) => ({
        type: 'append',
        content_block: `entry ${number}\n`,
      }));
      await machine.write('list.txt', '');
      await machine.write(
        'plan.json',
        JSON.stringify({ intent: 'many entries', target_file: 'list.txt', operations }),
      );
      const terminal = machine.terminal(['apply-plan', 'plan.json', '--json']);
      terminal.pause();
      await waitFor('the last entry', async () =>
        String(await machine.read('list.txt')).includes('entry 599\n'),
      );
      terminal.kill('SIGTERM');
      await waitFor('the end of the process', () => !isRunning(terminal.pid), 10_000);
    },
  );
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
