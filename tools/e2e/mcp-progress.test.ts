import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect } from 'vitest';

import { calls, configureUser, madeServer, reference } from './support/mcp.ts';
import { at } from './support/sandbox.ts';
import { longTest, test } from './support/test.ts';
import { waitFor } from './support/wait.ts';

/** Hazard: a person cannot see what a long call does, or the server works on for a turn that is over. */

const LONG = 'mcp__all__trigger-long-running-operation';

type Event = { readonly type: string; readonly callId?: string; readonly done?: number };

longTest('reports how far a call of a reference server has come', async ({ machine }) => {
  await configureUser(machine, {
    mcpServers: { all: reference('everything') },
    allowMcpTools: [LONG],
  });
  const provider = await machine.provider(calls([LONG, { duration: 1.2, steps: 4 }]));
  const ended = await machine.ask(provider, ['--json']);
  expect(ended.exitCode, ended.stderr).toBe(0);
  const events = ended.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Event);
  const types = events.map(({ type }) => type);
  const progress = events.filter(({ type }) => type === 'tool_progress');
  expect(progress.length).toBeGreaterThan(1);
  expect(progress[0]).toMatchObject({ toolName: LONG, done: 1, total: 4, message: '' });
  expect(types.indexOf('tool_progress')).toBeGreaterThan(types.indexOf('tool_calls'));
  expect(types.lastIndexOf('tool_progress')).toBeLessThan(types.indexOf('tool_result'));
});

test.concurrent('shows it on a terminal, without what a terminal would obey', async ({
  machine,
}) => {
  await configureUser(machine, {
    mcpServers: { made: await madeServer(machine, 'progress') },
    allowMcpTools: ['mcp__made__act'],
  });
  const provider = await machine.provider(calls(['mcp__made__act', { what: 'x' }]));
  const terminal = machine.terminal(['run', ...at(provider), 'go']);
  const shown = await terminal.waitForOutput('mcp__made__act: 2 of 100, ');
  expect(shown).not.toContain('\u001B]0;');
  expect(shown).not.toContain('\u202E');
  expect(shown).toContain(String.raw`\u202eon it`);
  terminal.type('\u0003');
  const { exitCode } = await terminal.finished;
  expect(exitCode).not.toBe(0);
  await waitFor('the cancellation', async () => {
    const seen = await readFile(join(machine.root, 'seen'), 'utf8').catch(() => '');
    return seen.includes('notifications/cancelled');
  });
});
