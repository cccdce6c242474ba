// @module-tag long
import { expect } from 'vitest';

import type { Behaviour } from '@orion/llm-adapters/scripted';

import { sent } from './support/requests.ts';
import { at } from './support/sandbox.ts';
import { LAST_WORD } from './support/scripts.ts';
import { test } from './support/test.ts';

/** Hazard: a long command looks like one that hangs, floods what shows it, or writes to the terminal itself. B15, B16. */

function runs(command: string): { readonly behaviours: readonly Behaviour[] } {
  const call: Behaviour = {
    name: 'line',
    when: { toolResults: 0 },
    reply: { toolCalls: [{ name: 'run_command', arguments: { command } }] },
  };
  return { behaviours: [call, LAST_WORD] };
}

type Event = { readonly type: string; readonly toolName?: string; readonly message?: string };

test.concurrent('reports a flood once a second, and nothing after its result', async ({
  machine,
}) => {
  const provider = await machine.provider(runs('timeout 2.5 yes flood; true'));
  const ended = await machine.ask(provider, ['--json', '--approve-commands', 'auto']);
  expect(ended.exitCode, ended.stderr).toBe(0);
  const events = ended.events() as readonly Event[];
  const progress = events.filter(({ type }) => type === 'tool_progress');
  expect(progress.length).toBeGreaterThanOrEqual(1);
  expect(progress.length).toBeLessThanOrEqual(4);
  expect(progress[0]).toMatchObject({
    toolName: 'run_command',
    message: expect.stringMatching(/^\d s, \d+\.\d MiB: flood$/u),
  });
  const types = events.map(({ type }) => type);
  expect(types.lastIndexOf('tool_progress')).toBeLessThan(types.indexOf('tool_result'));
  expect(ended.stdout.length).toBeLessThan(64 * 1024);
  // A model has nothing of it: it waits for the result.
  expect(JSON.stringify(sent(provider.requests))).not.toContain('tool_progress');
});

test.concurrent('shows the latest line on a terminal, which obeys nothing of it, and no key', async ({
  machine,
}) => {
  const key = 'sk-canary-0123456789abcdef';
  await machine.write('line', `now\u001b]0;title\u0007\u001b[2J\u202e\u009b3J ${key}\n`);
  const provider = await machine.provider(runs('cat line; sleep 2'));
  const terminal = machine.terminal(
    ['run', ...at(provider), 'go', '--approve-commands', 'auto', '--sandbox', 'off'],
    { env: { OPENAI_API_KEY: key } },
  );
  await terminal.waitForOutput(String.raw`: now\x1b]0;title\x07\x1b[2J\u202e\x9b3J `);
  const { exitCode, output } = await terminal.finished;
  expect(exitCode).toBe(0);
  expect(output).not.toContain('\u001b]0;');
  expect(output).not.toContain('\u001b[2J');
  expect(output).not.toMatch(/[\u009b\u202e]/u);
  expect(output).not.toContain(key);
});
