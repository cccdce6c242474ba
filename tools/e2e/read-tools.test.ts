// @module-tag long
/** A model that looks around before it answers, in the real command: R177, R284, B2. */
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';

import type { Behaviour } from '@orion/llm-adapters/scripted';
import { expect } from 'vitest';

import { textOfLoaded } from './support/loaded.ts';
import { sent } from './support/requests.ts';
import { at } from './support/sandbox.ts';
import { test } from './support/test.ts';

type Call = readonly [name: string, args: Readonly<Record<string, unknown>>];

function calling(...calls: readonly Call[]): readonly Behaviour[] {
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

const SOURCES: Readonly<Record<string, readonly [source: string, listed: string]>> = {
  'a.ts': ['export class A {\n  m() {}\n}\n', '["1-3 class: export class A","  2 method: m()"]'],
  'b.tsx': ['const B = () => <b />;\n', '["1 function: const B = () =>"]'],
  'c.js': ['function c() {}\n', '["1 function: function c()"]'],
  'd.py': ['def d(): pass\n', '["1 function: def d()"]'],
  'e.go': ['package e\n\nfunc E() {}\n', '["3 function: func E()"]'],
  'f.rs': ['pub fn f() {}\n', '["1 function: pub fn f()"]'],
  'G.java': ['class G {}\n', '["1 class: class G"]'],
};

test.concurrent('a model asks what source files define, in every language', async ({ machine }) => {
  for (const [path, [source]] of Object.entries(SOURCES))
    await machine.write(`src/${path}`, source);
  await machine.write('src/endless.rs', 'r#"'.repeat(300_000));
  await machine.write('src/greedy.java', 'a<'.repeat(500_000));
  const provider = await machine.provider({
    behaviours: calling(['list_code_definition_names', { path: 'src' }]),
  });

  const ended = await machine.ask(provider, ['--mode', 'plan', '--json']);

  expect(ended.exitCode, ended.stderr).toBe(0);
  const answer = sent(provider.requests)[1]?.messages.find(({ role }) => role === 'tool');
  const text = String(answer?.content);
  for (const [path, [, listed]] of Object.entries(SOURCES)) {
    expect(text).toContain(`{"path":"src/${path}","definitions":${listed}}`);
  }
  expect(text).toContain('"complete":true');
  expect(text).toMatch(/"src\/endless.rs","error":"Parsing it took longer than 2 s/);
  expect(text).toMatch(/"src\/greedy.java","error":"Parsing it (?:failed|took longer)/);
  expect(ended.stderr).toBe('');
});

test.concurrent('loads nothing of the grammars before they are asked for', async ({ machine }) => {
  await machine.write('a.py', 'def a(): pass\n');
  const run = async (call: Call): Promise<string> => {
    const provider = await machine.provider({ behaviours: calling(call) });
    return textOfLoaded(machine, `by-${call[0]}`, ['run', 'go', ...at(provider)]);
  };
  const grammars = /\bclass SourceParser\b|abstract_class_declaration|tree-sitter/;
  expect(await textOfLoaded(machine, 'by-version', ['--version'])).not.toMatch(grammars);
  expect(await run(['list_files', {}])).not.toMatch(grammars);
  expect(await run(['list_code_definition_names', {}])).toMatch(grammars);
});
