import { expect } from 'vitest';

import { sent } from './support/requests.ts';
import { beginCall, LAST_WORD, sha256 } from './support/scripts.ts';
import { test } from './support/test.ts';

test('R010, R160: several files in one turn, with a valid history all along', async ({
  machine,
}) => {
  const names = [
    'one.txt',
    'docs/two.md',
    'src/three.ts',
    'four.txt',
    'five.txt',
    'six.txt',
    'seven.txt',
  ];
  const provider = await machine.provider({
    shape: { chunk: 10 },
    behaviours: [
      ...names.map((target) => ({
        reply: {
          document: { target, content: { kind: 'text' as const, text: `This is ${target}.\n` } },
        },
      })),
      ...names.map((target, index) => beginCall({ target_file: target }, index)),
      LAST_WORD,
    ],
  });

  const ended = await machine.ask(provider, ['--json']);

  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(ended.result().receipts.map((receipt) => receipt.target_file)).toEqual(names);
  for (const receipt of ended.result().receipts) {
    expect(sha256(await machine.read(receipt.target_file))).toBe(receipt.sha256);
    expect(String(await machine.read(receipt.target_file))).toBe(
      `This is ${receipt.target_file}.\n`,
    );
  }
  const last = sent(provider.requests).at(-1);
  const roles = last?.messages.map((message) => message.role);
  expect(roles).toEqual(['system', 'user', ...names.flatMap(() => ['assistant', 'tool'])]);
  const ids = last?.messages.flatMap((message) => message.tool_calls ?? []).map((call) => call.id);
  expect(last?.messages.flatMap((message) => message.tool_call_id ?? [])).toEqual(ids);
  expect(new Set(ids).size).toBe(names.length);
  expect(JSON.stringify(last)).not.toContain('This is ');
  expect(await machine.sessions()).toEqual([]);
});

test('R007: of two begins in one message only the first opens a session', async ({ machine }) => {
  const begin = (target_file: string): { name: string; arguments: Record<string, unknown> } => ({
    name: 'WritePlanTool_begin',
    arguments: { intent: 'test', operation: 'create', target_file },
  });
  const provider = await machine.provider({
    behaviours: [
      { when: { toolChoice: 'none' }, reply: { text: 'text\nDONE' } },
      { when: { toolResults: 0 }, reply: { toolCalls: [begin('one.txt'), begin('two.txt')] } },
      LAST_WORD,
    ],
  });

  const ended = await machine.ask(provider, ['--json']);

  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(ended.result().receipts.map((receipt) => receipt.target_file)).toEqual(['one.txt']);
  expect(await machine.exists('two.txt')).toBe(false);
  const last = sent(provider.requests).at(-1)?.messages ?? [];
  expect(last.filter((message) => message.role === 'tool')).toHaveLength(2);
  expect(last.at(-1)?.content).toMatch(/SESSION_(BUSY|ALREADY_ACTIVE)/u);
  expect(await machine.sessions()).toEqual([]);
});
