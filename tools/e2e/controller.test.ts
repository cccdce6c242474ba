import type { Behaviour } from '@orion/llm-adapters/scripted';
import { expect } from 'vitest';

import { sent } from './support/requests.ts';
import { longTest, test } from './support/test.ts';

/** A message of a model without tool calls of its own. */
const says = (action: object): Behaviour['reply'] => ({ text: JSON.stringify(action) });
const step = (tool: string, args: object): Behaviour['reply'] =>
  says({ action: 'next_step', thinking: { task: 'test' }, tool, args });
const begins = (target: string): Behaviour['reply'] =>
  step('WritePlanTool_begin', { intent: 'test', target_file: target, operation: 'create' });

test.concurrent('controller: a model that repeats one call for ever ends with an answer and exit code 5', async ({
  machine,
}) => {
  await machine.write('a.txt', 'the content\n');
  const provider = await machine.provider({
    behaviours: [
      {
        when: { system: 'Answer now' },
        reply: says({ action: 'complete', message: 'It says: the content.' }),
      },
      { reply: step('read_file', { path: 'a.txt' }) },
    ],
  });

  const ended = await machine.ask(provider, ['--protocol', 'controller']);

  expect(ended.exitCode, ended.stderr).toBe(5);
  expect(provider.requests).toHaveLength(5);
  expect(ended.stdout).toContain('It says: the content.');
  expect(ended.stdout).not.toContain('"action"');
});

test.concurrent('controller: files stream as plain text in between, without one native tool call', async ({
  machine,
}) => {
  const provider = await machine.provider({
    behaviours: [
      {
        when: { lastUser: 'plain text, no JSON' },
        reply: { text: 'a line\n{"not": "an action"}\nDONE' },
      },
      {
        when: { lastUser: 'LAST TOOL OUTPUT\nNone' },
        reply: begins('one.txt'),
      },
      {
        when: { lastUser: '"target_file":"one.txt"' },
        reply: begins('two.txt'),
      },
      { reply: says({ action: 'complete', message: 'Both are written.' }) },
    ],
  });

  const ended = await machine.ask(provider, ['--protocol', 'controller', '--json']);

  expect(ended.exitCode, `${ended.stderr}${ended.stdout}`).toBe(0);
  for (const file of ['one.txt', 'two.txt']) {
    expect(String(await machine.read(file))).toBe('a line\n{"not": "an action"}\n');
  }
  expect(ended.events().at(-1)).toMatchObject({
    type: 'done',
    protocol: 'controller',
    fullContent: 'Both are written.',
  });
  for (const request of sent(provider.requests)) {
    expect(request).not.toHaveProperty('tools');
    expect(request.messages.every((message) => message.role !== 'tool')).toBe(true);
  }
});

longTest('A9: thinking alone is no step, and twice the same is the end', async ({ machine }) => {
  const provider = await machine.provider({
    behaviours: [{ reply: says({ action: 'next_step', thinking: { task: 'x' } }) }],
  });

  const ended = await machine.ask(provider, ['--protocol', 'controller', '--json']);

  expect(ended.exitCode).toBe(1);
  expect(provider.requests).toHaveLength(2);
  const events = ended.events();
  expect(events.filter((event) => event.type === 'tool_calls')).toEqual([]);
  expect(events.find((event) => event.type === 'error')).toMatchObject({
    error: { code: 'CONTROLLER_INVALID_OUTPUT' },
  });
  expect(events.at(-1)).toMatchObject({
    type: 'done',
    status: 'error',
    stopReason: 'invalid_output',
  });
});

longTest('a session that a controller began is recovered with text alone', async ({ machine }) => {
  const provider = await machine.provider({
    behaviours: [
      {
        when: { lastUser: 'plain text, no JSON' },
        times: 1,
        reply: { text: 'line 1\nline 2\nline 3\nline 4\nline 5\n' },
        faults: [{ kind: 'stall', at: { lines: 5 } }],
      },
      {
        when: { lastUser: 'line 4' },
        reply: { text: 'line 1\nline 2\nline 3\nline 4\nline 5\nline 6\nDONE' },
      },
      {
        reply: begins('one.txt'),
      },
    ],
  });
  const { session } = await machine.askUntilKilled(provider, 35, ['--protocol', 'controller']);

  const recovered = await machine.run(['recover-session', session.id, '--base-url', provider.url]);

  expect(recovered.exitCode, recovered.stderr).toBe(0);
  expect(String(await machine.read('one.txt'))).toBe(
    'line 1\nline 2\nline 3\nline 4\nline 5\nline 6\n',
  );
  for (const request of sent(provider.requests)) {
    expect(request.messages.every((message) => message.role !== 'tool')).toBe(true);
  }
});
