/** A model that looks around before it answers, in the real command: R177, R284, B2. */
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';

import type { Behaviour } from '@orion/llm-adapters/scripted';
import { expect } from 'vitest';

import { sent } from './support/requests.ts';
import { test } from './support/test.ts';

function calling(
  ...calls: readonly (readonly [name: string, args: Readonly<Record<string, unknown>>])[]
): readonly Behaviour[] {
  return [
    { when: { toolResults: calls.length }, reply: { text: 'I have looked.' } },
    { reply: { toolCalls: calls.map(([name, args]) => ({ name, arguments: args })) } },
  ];
}

test.concurrent('PLAN mode lists and searches, and says what it left out', async ({ machine }) => {
  await machine.write('src/a.ts', 'const needle = 1;\n');
  await machine.write('src/b.ts', 'export {};\n');
  await machine.write('dist/a.js', 'const needle = 1;\n');
  await machine.write('.gitignore', 'dist/\n');
  await machine.write('image.png', 'needle\0');
  await symlink('/etc', join(machine.workspace, 'outside'));
  const provider = await machine.provider({
    behaviours: calling(
      ['list_files', { globs: ['*.ts'] }],
      ['search_files', { pattern: 'needle\\s*=', regex: true }],
      ['search_files', { pattern: '^(a+)+$', regex: true, path: 'outside' }],
      ['search_files', { pattern: '(', regex: true }],
    ),
  });

  const ended = await machine.ask(provider, ['--mode', 'plan', '--json']);

  expect(ended.exitCode, ended.stderr).toBe(0);
  const answers = sent(provider.requests)[1]?.messages.filter(({ role }) => role === 'tool') ?? [];
  const [listed, found, outside, invalid] = answers.map(({ content }) => String(content));
  expect(listed).toContain('"files":["src/a.ts","src/b.ts"]');
  expect(found).toContain('"files":[{"path":"src/a.ts","lines":["1:const needle = 1;"]}]');
  expect(found).toContain('1 file not searched: binary.');
  expect(outside).toContain('INVALID_TARGET');
  expect(invalid).toContain('INVALID_TOOL_ARGUMENTS');
});
