import { expect } from 'vitest';

import type { Behaviour } from '@orion/llm-adapters/scripted';

import { failedCalls } from './support/outcomes.ts';
import { sent } from './support/requests.ts';
import { at } from './support/sandbox.ts';
import { LAST_WORD } from './support/scripts.ts';
import { longTest, test } from './support/test.ts';
import { waitFor } from './support/wait.ts';

/** Hazard: a model runs something on the person's machine to which nobody agreed. R281, R283. */

/** A model that runs these lines, one message after the other. */
function runs(...lines: readonly string[]): { readonly behaviours: readonly Behaviour[] } {
  return {
    behaviours: [
      ...lines.map((command, at): Behaviour => ({
        name: `line ${at}`,
        when: { toolResults: at },
        reply: { toolCalls: [{ name: 'run_command', arguments: { command } }] },
      })),
      LAST_WORD,
    ],
  };
}

test.concurrent('refuses a line where nobody can be asked, and tells the model why', async ({
  machine,
}) => {
  const provider = await machine.provider(runs('touch made'));
  const ended = await machine.ask(provider, ['--json']);
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(failedCalls(ended)).toEqual([['run_command', 'APPROVAL_REFUSED']]);
  expect(JSON.stringify(sent(provider.requests))).toContain(
    'no pattern allows it, and nobody can be asked',
  );
  expect(await machine.exists('made')).toBe(false);
});

test.concurrent('runs what a pattern allows, and nothing that hides behind it', async ({
  machine,
}) => {
  const lines = [
    'echo fine > /dev/null; touch a',
    'touch b',
    'touch c && rm -rf a',
    'touch d $(touch e)',
    'touch "f"; touch g',
  ];
  const rounds = { env: { MAX_ITERATIONS: '9' } };
  const provider = await machine.provider(runs(...lines));
  const ended = await machine.ask(provider, ['--json', '--allow-command', 'touch *'], rounds);
  expect(ended.exitCode, ended.stderr).toBe(0);
  const made = await Promise.all(
    ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => machine.exists(name)),
  );
  expect(made).toEqual([false, true, false, false, false, true, true]);
});

longTest('lets --approve never refuse what no pattern allows', async ({ machine }) => {
  const provider = await machine.provider(runs('touch a', 'touch b'));
  const terminal = machine.terminal([
    'run',
    ...at(provider),
    'go',
    '--approve',
    'never',
    '--allow-command',
    'touch b',
  ]);
  const { exitCode } = await terminal.finished;
  expect(exitCode).toBe(0);
  expect(await machine.exists('a')).toBe(false);
  expect(await machine.exists('b')).toBe(true);
});

test.concurrent('asks on a terminal, showing all of the line, and runs it after a yes alone', async ({
  machine,
}) => {
  const line = `echo one${' '.repeat(5_000)}; touch \u202emade`;
  const provider = await machine.provider(runs(line, 'touch refused'));
  const terminal = machine.terminal(['run', ...at(provider), 'go']);
  const shown = (await terminal.waitForOutput('cannot be undone. (y/N')).replaceAll(/\r?\n/gu, '');
  expect(shown).toContain(`about to run in ${machine.path('')}`.replace(/\/$/u, ''));
  expect(shown).toContain(String.raw`echo one[5,000 blanks]; touch \u202emade`);
  expect(shown).toContain(`Run it in ${machine.workspace}? What it changes`);
  expect(await machine.exists('\u202emade')).toBe(false);
  terminal.type('y\r');
  expect(await terminal.waitForOutput('cannot be undone. (y/N', 2)).toContain('touch refused');
  terminal.type('\r');
  const { exitCode, output } = await terminal.finished;
  expect(exitCode).toBe(0);
  expect(await machine.exists('\u202emade')).toBe(true);
  expect(await machine.exists('refused')).toBe(false);
  expect(output).toContain('the person said no');
});

longTest('is not offered and not run in PLAN mode', async ({ machine }) => {
  const provider = await machine.provider(runs('touch made'));
  const ended = await machine.ask(provider, [
    '--json',
    '--mode',
    'plan',
    '--approve-commands',
    'auto',
  ]);
  expect(failedCalls(ended)).toEqual([['run_command', 'TOOL_NOT_ALLOWED']]);
  expect(await machine.exists('made')).toBe(false);
  const [first] = sent(provider.requests);
  expect(JSON.stringify(first)).not.toContain('"run_command"');
});

test.concurrent('lets no workspace decide what runs, not even one that is accepted', async ({
  machine,
}) => {
  await machine.write(
    'orion.config.json',
    JSON.stringify({ approveCommands: 'auto', allowCommands: ['touch *'], sandbox: 'off' }),
  );
  const provider = await machine.provider(runs('touch made'));
  const before = await machine.ask(provider, ['--json']);
  expect(before.stderr).toContain('allowCommands, sandbox');
  expect((await machine.run(['trust'])).exitCode).toBe(0);
  const after = await machine.ask(provider, ['--json']);
  expect(after.stderr).toContain(
    'which commands run is decided by your own configuration, flags or environment alone',
  );
  expect(failedCalls(after)).toEqual([['run_command', 'APPROVAL_REFUSED']]);
  expect(await machine.exists('made')).toBe(false);
});

test.concurrent('shows a line no key, neither in its environment nor in its answer', async ({
  machine,
}) => {
  const provider = await machine.provider(runs('env; cat "$HOME/.npmrc"'));
  const ended = await machine.ask(provider, ['--json', '--approve-commands', 'auto'], {
    env: { OPENAI_API_KEY: 'sk-canary-0123456789abcdef', GITHUB_TOKEN: 'ghp_canary0123456789' },
  });
  expect(ended.exitCode, ended.stderr).toBe(0);
  const all = JSON.stringify(sent(provider.requests)) + ended.stdout + ended.stderr;
  expect(all).toContain('NO_COLOR=1');
  expect(all).not.toContain('canary');
});

longTest('runs the same line again after a change, and not without one', async ({ machine }) => {
  const provider = await machine.provider(
    runs(
      'cat count; echo x >> count',
      'cat count; echo x >> count',
      'true',
      'cat count; echo x >> count',
    ),
  );
  const ended = await machine.ask(provider, ['--json', '--approve-commands', 'auto']);
  expect(failedCalls(ended)).toEqual([['run_command', 'DUPLICATE_BLOCKED']]);
  expect(String(await machine.read('count'))).toBe('x\nx\n');
});

test.concurrent('ends a line with its turn', async ({ machine }) => {
  const provider = await machine.provider(runs('echo $$ > pid; exec sleep 61.25'));
  const running = machine.start([
    'run',
    ...at(provider),
    'go',
    '--approve-commands',
    'auto',
    '--sandbox',
    'off',
  ]);
  const pid = await waitFor('the number of the process', async () => {
    const text = String((await machine.find('pid')) ?? '');
    return text.endsWith('\n') ? Number(text) : null;
  });
  running.kill('SIGINT');
  await running.finished;
  expect(() => process.kill(pid, 0)).toThrow();
});
