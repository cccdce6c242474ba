import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import type { Orion } from './orion.ts';
import { openOrion, temporaryDirectory } from './testing/set-up.ts';

/** Hazard: a person is shown a change that was another one. */

async function linesOf(orion: Orion, id: string): Promise<readonly (string | null)[]> {
  const shown: (string | null)[] = [];
  for (const { diff } of await orion.diffChange(id)) {
    if (diff === null) shown.push(null);
    else for await (const line of diff) shown.push(line);
  }
  return shown;
}

async function change(orion: Orion, type: string, content: string): Promise<string> {
  const operations = [{ type, target_file: 'a.txt', content }];
  await orion.applyPlan({ intent: 'test', operations });
  return (await Array.fromAsync(orion.changes()))[0]?.change_id ?? '';
}

it('shows each change as it was, also when later ones and an undo came after it', async () => {
  const workspace = await temporaryDirectory();
  const orion = await openOrion({ workspace });
  const first = await change(orion, 'create', 'one\n');
  const second = await change(orion, 'overwrite', 'two\n');
  const third = await change(orion, 'append', 'more\n');
  const created = ['--- /dev/null', '+++ b/a.txt', '@@ -0,0 +1 @@', '+one'];
  const replaced = ['--- a/a.txt', '+++ b/a.txt', '@@ -1 +1 @@', '-one', '+two'];
  const added = ['--- a/a.txt', '+++ b/a.txt', '@@ -1 +1,2 @@', ' two', '+more'];
  expect(await linesOf(orion, first)).toEqual(created);
  expect(await linesOf(orion, second)).toEqual(replaced);
  expect(await linesOf(orion, third)).toEqual(added);
  const { undo_id } = await orion.undo();
  expect(await linesOf(orion, undo_id ?? '')).toEqual([
    '--- a/a.txt',
    '+++ b/a.txt',
    '@@ -1,2 +1 @@',
    ' two',
    '-more',
  ]);
  expect(await linesOf(orion, third)).toEqual(added);
  expect(await readFile(join(workspace, 'a.txt'), 'utf8')).toBe('two\n');
});

it('shows nothing in place of bytes that are gone', async () => {
  const workspace = await temporaryDirectory();
  const orion = await openOrion({ workspace });
  const id = await change(orion, 'create', 'one\n');
  await writeFile(join(workspace, 'a.txt'), 'edited\n');
  expect(await linesOf(orion, id)).toEqual([null]);
  await rm(join(workspace, 'a.txt'));
  expect(await linesOf(orion, id)).toEqual([null]);
  await expect(orion.diffChange('none')).rejects.toMatchObject({ code: 'CHANGE_NOT_FOUND' });
});

it('shows one file of a change by the id that its receipt has', async () => {
  const orion = await openOrion({ workspace: await temporaryDirectory() });
  const operations = ['a.txt', 'b.txt'].map((target_file) => ({
    type: 'create',
    target_file,
    content: `${target_file}\n`,
  }));
  await orion.applyPlan({ intent: 'test', operations });
  const [recorded] = await Array.fromAsync(orion.changes());
  const file = recorded?.files.find(({ target_file }) => target_file === 'b.txt');
  expect(await linesOf(orion, file?.backup_id ?? '')).toEqual([
    '--- /dev/null',
    '+++ b/b.txt',
    '@@ -0,0 +1 @@',
    '+b.txt',
  ]);
});
