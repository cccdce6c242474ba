import { expect } from 'vitest';

import type { Behaviour } from '@orion/llm-adapters/scripted';

import { at } from './support/sandbox.ts';
import { LAST_WORD, writeMessages } from './support/scripts.ts';
import type { Terminal } from './support/terminal.ts';
import { test } from './support/test.ts';

/** Hazard: what a person typed for something else, or pasted, is taken for a yes to a question not yet seen. B18. */

const QUESTION = 'cannot be undone. (y/N';
const RUN: Behaviour = {
  name: 'line',
  when: { toolResults: 0 },
  reply: { toolCalls: [{ name: 'run_command', arguments: { command: 'touch made' } }] },
};
const RUN_ANOTHER: Behaviour = {
  name: 'another line',
  when: { toolResults: 1 },
  reply: { toolCalls: [{ name: 'run_command', arguments: { command: 'touch another' } }] },
};

test.concurrent.for([
  ['a line', 'y\r'],
  ['several lines', 'y\ryes\ry\r\ry\r'],
  ['more than a terminal keeps', 'y\r'.repeat(4_000)],
  ['the beginning of a line', 'y'],
] as const)('%s typed before a question does not answer it', async ([, typed], { machine }) => {
  const provider = await machine.provider({ behaviours: [RUN, LAST_WORD] });
  const terminal = machine.terminal(['run', ...at(provider), 'go']);
  terminal.type(typed);
  await terminal.waitForOutput(QUESTION);
  terminal.type('\r');
  const { exitCode, output } = await terminal.finished;
  expect(exitCode, output).toBe(0);
  expect(output).toContain('the person said no');
  expect(await machine.exists('made')).toBe(false);
});

test.concurrent('the lines that follow an answer in a paste do not answer the next question', async ({
  machine,
}) => {
  const provider = await machine.provider({ behaviours: [RUN, RUN_ANOTHER, LAST_WORD] });
  const terminal = machine.terminal(['run', ...at(provider), 'go']);
  await terminal.waitForOutput(QUESTION);
  terminal.type('y\ry\ry\ry');
  await terminal.waitForOutput(QUESTION, 2);
  terminal.type('\r');
  const { output } = await terminal.finished;
  expect(output).toContain('the person said no');
  expect(await machine.exists('made')).toBe(true);
  expect(await machine.exists('another')).toBe(false);
});

test.concurrent('nor does what follows something that is no answer', async ({ machine }) => {
  const provider = await machine.provider({ behaviours: [RUN, LAST_WORD] });
  const terminal = machine.terminal(['run', ...at(provider), 'go']);
  await terminal.waitForOutput(QUESTION);
  terminal.type('perhaps\ry\r');
  await terminal.waitForOutput(QUESTION, 2);
  terminal.type('n\r');
  expect((await terminal.finished).output).toContain('the person said no');
  expect(await machine.exists('made')).toBe(false);
});

test.concurrent('a protected path is not written by an earlier yes', async ({ machine }) => {
  const provider = await machine.provider(writeMessages('.env', ['KEY=1\nDONE']));
  const terminal = machine.terminal(['run', ...at(provider), 'go']);
  terminal.type('y\r');
  await terminal.waitForOutput('.env is protected');
  terminal.type('n\r');
  await terminal.finished;
  expect(await machine.exists('.env')).toBe(false);
});

test.concurrent('Ctrl-C stops the turn while a question waits for the typing to end', async ({
  machine,
}) => {
  const provider = await machine.provider({ behaviours: [RUN, LAST_WORD] });
  const terminal = machine.terminal(['run', ...at(provider), 'go']);
  const typing = setInterval(() => terminal.type('x'), 10);
  try {
    await terminal.waitForOutput('A command is about to run');
    await echoEnds(terminal);
    terminal.type('\u0003');
    expect((await terminal.finished).exitCode).toBe(130);
  } finally {
    clearInterval(typing);
  }
  expect(await machine.exists('made')).toBe(false);
});

/** While a question waits for the typing to end, the terminal does not show what is typed. */
async function echoEnds(terminal: Terminal): Promise<void> {
  for (let before = ''; before !== terminal.output();) {
    before = terminal.output();
    await new Promise((settle) => setTimeout(settle, 60));
  }
}

test.concurrent('an end of input refuses every question', async ({ machine }) => {
  const provider = await machine.provider({ behaviours: [RUN, RUN_ANOTHER, LAST_WORD] });
  const terminal = machine.terminal(['run', ...at(provider), 'go']);
  await terminal.waitForOutput(QUESTION);
  terminal.type('\u0004');
  const { exitCode, output } = await terminal.finished;
  expect(exitCode).toBe(0);
  expect(output).toContain('nobody answered');
  expect(await machine.exists('made')).toBe(false);
  expect(await machine.exists('another')).toBe(false);
});
