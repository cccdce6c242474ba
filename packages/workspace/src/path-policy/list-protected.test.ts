import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { expect, it } from 'vitest';

import { openTestWorkspace } from '../testing/temp-workspace.ts';

async function listed(
  files: readonly string[],
  settings: { readonly allowPaths?: readonly string[] } = {},
): Promise<{ readonly paths: readonly string[]; readonly truncated: boolean }> {
  const { workspace, root } = await openTestWorkspace({ settings });
  for (const file of files) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), '');
  }
  await symlink(root, join(root, 'loop'));
  const { entries, truncated } = await workspace.listProtected();
  return { paths: entries.map(({ path }) => path).toSorted(), truncated };
}

it('lists the topmost protected file or folder of each branch', async () => {
  const files = [
    '.git/config',
    '.git/hooks/pre-commit',
    '.env.local',
    'package.json',
    'src/a.ts',
    'packages/a/.vscode/tasks.json',
    'packages/a/.GitHub/x.yml',
    '.orion/state',
    'AGENTS.md',
    'node_modules/b/.npmrc',
    '.config/fish/config.fish',
    '.config/other',
  ];
  expect(await listed(files)).toEqual({
    paths: [
      '.config/fish',
      '.env.local',
      '.git',
      '.orion',
      'packages/a/.GitHub',
      'packages/a/.vscode',
    ],
    truncated: false,
  });
});

it('lists what git obeys in a folder that it takes for a repository', async () => {
  const files = ['bare/HEAD', 'bare/config', 'bare/hooks/x', 'bare/objects/x', 'bare/refs/x'];
  const led = ['led/head', 'led/commondir', 'led/config'];
  const plain = [
    'plain/HEAD',
    'plain/config',
    'plain/objects/x',
    'other/objects/x',
    'other/refs/x',
  ];
  expect((await listed([...files, ...led, ...plain])).paths).toEqual([
    'bare/HEAD',
    'bare/config',
    'bare/hooks',
    'led/commondir',
    'led/config',
    'led/head',
  ]);
});

it('leaves out what the settings allow', async () => {
  const { paths } = await listed(['.env', 'a/.env', '.npmrc'], { allowPaths: ['**/.env'] });
  expect(paths).toEqual(['.npmrc']);
  // Whoever may write below a folder's folders may not write beside them.
  const deep = await listed(['.idea/a/b', '.vscode/a'], {
    allowPaths: ['.idea/*/**', '.vscode/**'],
  });
  expect(deep.paths).toEqual(['.idea']);
});

it('says that there are too many to list', { tags: ['long'] }, async () => {
  const files = Array.from({ length: 1_001 }, (_, at) => `${at}/.env`);
  const { paths, truncated } = await listed(files);
  expect([paths.length, truncated]).toEqual([1_000, true]);
  expect((await listed(files.slice(1))).truncated).toBe(false);
});
