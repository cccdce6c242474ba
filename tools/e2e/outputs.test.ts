import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect } from 'vitest';

import { test } from './support/test.ts';

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
