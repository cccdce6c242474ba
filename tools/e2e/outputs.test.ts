// @module-tag long
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect } from 'vitest';

import { textOfLoaded } from './support/loaded.ts';
import { at } from './support/sandbox.ts';
import { LAST_WORD } from './support/scripts.ts';
import { longTest, test } from './support/test.ts';

const DOCUMENT = {
  items: [
    { id: 1, open: true },
    { id: 2, open: false },
    { id: 3, open: true },
  ],
};

test('a JSON file is asked, in the thread that the bundle starts', async ({ machine }) => {
  await writeFile(join(machine.workspace, 'a.json'), JSON.stringify(DOCUMENT));
  const ask = async (...args: string[]): Promise<unknown> => {
    const ended = await machine.run(['outputs', ...args, '--file', 'a.json']);
    expect(ended.exitCode, ended.stderr).toBe(0);
    return JSON.parse(ended.stdout);
  };
  expect(await ask('extract', '--path', '$.items[*].id', '--path', '$.none')).toEqual({
    extracted: { '$.items[*].id': [1, 2, 3], '$.none': null },
    missing_paths: ['$.none'],
  });
  expect(await ask('count', '--path', '$.items', '--filter', '@.open == true')).toEqual({
    counts: { '$.items': 2 },
    total: 2,
  });
  expect(await ask('sample', '--path', '$.items', '--method', 'last', '--size', '1')).toMatchObject(
    { indices: [2], items: [{ id: 3, open: true }] },
  );
  expect(await ask('stats')).toMatchObject({ types: { object: 4, array: 1, number: 3 } });

  const wrong = await machine.run(['outputs', 'extract', '--path', 'items', '--file', 'a.json']);
  expect(wrong.exitCode).toBe(2);
  expect(wrong.stderr).toContain('OUTPUT_QUERY_INVALID: tool_outputs.extract: The path "items"');
  const missing = await machine.run(['outputs', 'stats', '--file', 'none.json']);
  expect(missing.exitCode).toBe(2);
  expect(missing.stderr).toContain('none.json cannot be read (ENOENT)');
});

test('a stored file is listed, asked by its id or as the latest, and not by another', async ({
  machine,
}) => {
  const empty = await machine.run(['outputs', 'list']);
  expect(JSON.parse(empty.stdout)).toEqual({ outputs: [], total: 0, has_more: false });
  await writeFile(join(machine.workspace, 'a.json'), JSON.stringify(DOCUMENT));
  await writeFile(join(machine.workspace, 'a.txt'), 'no JSON');
  const store = async (file: string): Promise<string> => {
    const stored = await machine.run(['outputs', 'store', file]);
    expect(stored.exitCode, stored.stderr).toBe(0);
    return stored.stdout.trim();
  };
  const id = await store('a.json');
  const read = await machine.run(['outputs', 'read']);
  expect(JSON.parse(read.stdout)).toMatchObject({ id, output: DOCUMENT });
  const text = await store('a.txt');
  const list = await machine.run(['outputs', 'list', '--sort', 'oldest']);
  expect(JSON.parse(list.stdout)).toMatchObject({ outputs: [{ id }, { id: text }], total: 2 });
  const extracted = await machine.run(['outputs', 'extract', text]);
  expect(JSON.parse(extracted.stdout)).toMatchObject({ extracted: { $: ['no JSON'] } });
  const other = await machine.run(['outputs', 'read', 'none']);
  expect(other.exitCode).toBe(1);
  expect(other.stderr).toContain('OUTPUT_NOT_FOUND: tool_outputs.read: There is no stored output');
});

describe('R254, B16: hostile data is harmless on a terminal, and the same value', () => {
  const HOSTILE = 'a\u001B[2Jb\u001B]0;title\u0007c\u009B31md\u202Ee\u200Ef\u007Fg\u{E0041}';
  /** What only data could bring; colours and erased lines are ours. */
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  const ATTACK = /\u001B\[2J|\u001B\]|[\u0007\u007F\u009B\u202E\u200E]|\u{E0041}/u;

  test.concurrent.for([
    ['extract', '--path', '$'],
    ['extract', '--path', '$..*', '--include-paths', '--flatten'],
    ['count', '--path', `$["${HOSTILE}"]`],
    ['sample', '--path', '$.list'],
    ['stats', '--schema'],
    ['read'],
    ['extract', '--path', HOSTILE],
    ['count', '--path', `$.list["${HOSTILE}`],
    ['stats', '--file', `${HOSTILE}.json`],
    ['stats', '--file', 'damaged.json'],
    ['read', HOSTILE],
  ] as const)('%j', { tags: ['long'] }, async (args, { machine }) => {
    const document = { [HOSTILE]: [HOSTILE], list: [{ [HOSTILE]: HOSTILE }, HOSTILE] };
    await writeFile(join(machine.workspace, 'a.json'), JSON.stringify(document));
    await writeFile(join(machine.workspace, 'damaged.json'), `{"${HOSTILE}": ${HOSTILE}`);
    const named = args.includes('--file' as never) || args.length === 2;
    const command = ['outputs', ...args, ...(named ? [] : ['--file', 'a.json'])];
    const terminal = await machine.terminal(command).finished;
    expect(terminal.output).not.toMatch(ATTACK);
    expect(terminal.output).not.toBe('');
    if (args[0] !== 'read' || named) return;
    const piped = await machine.run(command);
    expect(piped.stdout).not.toMatch(ATTACK);
    expect(JSON.parse(piped.stdout)).toMatchObject({ output: document });
  });

  test(
    'a list, and what is stored under a hostile name',
    { tags: ['long'] },
    async ({ machine }) => {
      await writeFile(join(machine.workspace, 'a.txt'), HOSTILE);
      const stored = await machine.terminal(['outputs', 'store', 'a.txt']).finished;
      expect(stored.exitCode, stored.output).toBe(0);
      for (const command of [['list'], ['read'], ['read', '--limit', '9'], ['extract']]) {
        const ended = await machine.terminal(['outputs', ...command]).finished;
        expect(ended.exitCode, ended.output).toBe(0);
        expect(ended.output).not.toMatch(ATTACK);
      }
      const read = await machine.run(['outputs', 'read']);
      expect(JSON.parse(read.stdout)).toMatchObject({ output: HOSTILE });
    },
  );
});

longTest('a command that asks nothing loads nothing that answers', async ({ machine }) => {
  const TOOLS = 'function outputOperations(';
  const ASKING = ['function askOutput(', 'function createTraverser('];
  /** In a thread, whose record is lost when it is ended. */
  const ANSWERING = ['function nodesAt(', 'JSONPathEnvironment'];
  const ANSWERS = [...ASKING, ...ANSWERING];
  await writeFile(join(machine.workspace, 'a.json'), '[1]');
  const asked = await textOfLoaded(machine, 'asked', ['outputs', 'extract', '--file', 'a.json']);
  for (const text of [TOOLS, ...ASKING]) expect(asked).toContain(text);
  const chunks = new URL('../../apps/cli/dist/chunks/', import.meta.url);
  const names = (await readdir(chunks)).filter((name) => name.endsWith('.js'));
  const all = await Promise.all(names.map((name) => readFile(new URL(name, chunks), 'utf8')));
  for (const text of ANSWERING) expect(all.join('\n')).toContain(text);

  const version = await textOfLoaded(machine, 'version', ['--version']);
  for (const text of [TOOLS, ...ANSWERS]) expect(version).not.toContain(text);

  // Every turn offers the tools.
  const provider = await machine.provider({ behaviours: [LAST_WORD] });
  const run = await textOfLoaded(machine, 'run', ['run', 'go', ...at(provider)]);
  expect(run).toContain(TOOLS);
  for (const text of ANSWERS) expect(run).not.toContain(text);
});
