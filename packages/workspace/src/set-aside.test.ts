/** Protected paths that a command made or replaced (B5, R255): seen, moved away, and kept. */
import {
  lstat,
  mkdir,
  readFile,
  readdir,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';

import type { ProtectedPaths, ProtectedReport } from '@orion/contracts';
import { interceptDisk } from '@orion/testkit/disk-faults';
import { expect, it, onTestFinished } from 'vitest';

import { openTestWorkspace, temporaryDirectory } from './testing/temp-workspace.ts';
import type { TestWorkspace } from './testing/temp-workspace.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

async function put(root: string, ...files: readonly string[]): Promise<void> {
  for (const file of files) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), `bytes of ${file}`);
  }
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** What is reported of `act`, in the order of paths. */
async function after(
  { workspace, root }: TestWorkspace,
  undo: boolean,
  act: (root: string) => Promise<void>,
): Promise<ProtectedReport> {
  const before = await workspace.listProtected();
  await act(root);
  const { changes, truncated } = await workspace.protectedChanges(before, { undo });
  return { changes: changes.toSorted((a, b) => (a.path < b.path ? -1 : 1)), truncated };
}

const MADE = [
  '.npmrc',
  '.ENVRC',
  '.git/hooks/pre-commit',
  'new/deep/.vscode/tasks.json',
  'old/.github/workflows/x.yml',
  '.config/fish/config.fish',
  'bare/HEAD',
  'bare/objects/x',
  'bare/refs/x',
];

it('moves what is new away, whole, and leaves everything else', async () => {
  const test = await openTestWorkspace();
  const { root } = test;
  await put(root, 'old/.vscode/settings.json', '.env');
  const report = await after(test, true, () =>
    put(root, ...MADE, 'package.json', 'src/a.ts', 'node_modules/a/.npmrc', '.gitignore'),
  );
  expect(report.truncated).toBe(false);
  expect(report.changes.map(({ path, change, restored }) => [path, change, restored])).toEqual(
    [
      '.ENVRC',
      '.config/fish',
      '.git',
      '.npmrc',
      'bare/HEAD',
      'new/deep/.vscode',
      'old/.github',
    ].map((path) => [path, 'created', false]),
  );
  for (const { path, movedTo } of report.changes) {
    expect(await exists(join(root, path))).toBe(false);
    expect(movedTo).toMatch(/^\.orion\/set_aside\/[0-9a-f-]{36}\/[^/]+$/u);
  }
  const hooks = report.changes.find(({ path }) => path === '.git')?.movedTo ?? '';
  expect(await readFile(join(root, hooks, 'hooks/pre-commit'), 'utf8')).toBe(
    'bytes of .git/hooks/pre-commit',
  );
  for (const path of ['package.json', 'src/a.ts', 'node_modules/a/.npmrc', '.gitignore', '.env'])
    expect(await exists(join(root, path))).toBe(true);
  expect(await exists(join(root, 'old/.vscode/settings.json'))).toBe(true);
});

it('leaves what is allowed', async () => {
  const test = await openTestWorkspace({
    settings: { allowPaths: ['.npmrc', '.git/**', '.vscode/*/*'] },
  });
  const report = await after(test, true, (root) =>
    put(root, '.npmrc', '.git/config', '.env', '.vscode/a/b'),
  );
  expect(report.changes.map(({ path }) => path)).toEqual(['.env', '.vscode']);
});

it('only names it where it is not to be undone', async () => {
  const test = await openTestWorkspace();
  await put(test.root, '.env', '.envrc', '.npmrc', '.git/config');
  const report = await after(test, false, async (root) => {
    await put(root, '.vscode/x', '.git/hooks/x');
    await writeFile(join(root, '.env'), 'other');
    await rm(join(root, '.envrc'));
  });
  expect(report.changes).toEqual([
    { path: '.env', change: 'changed', movedTo: null, restored: false },
    { path: '.envrc', change: 'removed', movedTo: null, restored: false },
    { path: '.vscode', change: 'created', movedTo: null, restored: false },
  ]);
  expect(await readFile(join(test.root, '.env'), 'utf8')).toBe('other');
  expect(await exists(join(test.root, '.orion'))).toBe(false);
});

it('puts a link back that was replaced or removed', async () => {
  const test = await openTestWorkspace();
  await put(test.root, 'real/config', 'keys');
  await symlink('real', join(test.root, '.git'));
  await symlink('keys', join(test.root, '.env'));
  const { changes } = await after(test, true, async (root) => {
    await rm(join(root, '.git'));
    await put(root, '.git/config');
    await rm(join(root, '.env'));
  });
  expect(changes).toMatchObject([
    { path: '.env', change: 'removed', movedTo: null, restored: true },
    { path: '.git', change: 'changed', movedTo: expect.stringMatching(/\.git$/u), restored: true },
  ]);
  expect(await readlink(join(test.root, '.git'))).toBe('real');
  expect(await readlink(join(test.root, '.env'))).toBe('keys');
});

it('does not take what somebody else has saved meanwhile, nor a folder that was renamed', async () => {
  const test = await openTestWorkspace();
  await put(test.root, '.env', 'one/.vscode/x');
  const report = await after(test, true, async (root) => {
    // As an editor saves it; a command in the sandbox cannot.
    await put(root, 'saved');
    await rename(join(root, 'saved'), join(root, '.env'));
    await rename(join(root, 'one'), join(root, 'two'));
    await put(root, 'nested/.orion/state');
  });
  expect(report.changes).toEqual([]);
  expect(await exists(join(test.root, 'two/.vscode/x'))).toBe(true);
});

it('names what lost its name with the folder above it', async () => {
  const test = await openTestWorkspace();
  await put(test.root, '.config/fish/config.fish');
  const report = await after(test, true, (root) =>
    rename(join(root, '.config'), join(root, 'other')),
  );
  expect(report.changes).toMatchObject([{ path: '.config/fish', change: 'removed' }]);
});

it('takes nothing from a folder that was not searched before', async () => {
  const test = await openTestWorkspace();
  await put(test.root, 'known/x', 'unknown/.env', 'unknown/.npmrc');
  const { entries, folders } = await test.workspace.listProtected();
  expect([...folders].toSorted()).toEqual(['', 'known', 'unknown']);
  const before: ProtectedPaths = {
    entries: entries.filter(({ path }) => path !== 'unknown/.npmrc'),
    folders: new Set(['', 'known']),
    truncated: true,
  };
  await put(test.root, 'known/.env', '.env');
  await rm(join(test.root, 'unknown/.env'));
  const report = await test.workspace.protectedChanges(before, { undo: true });
  expect(report.truncated).toBe(true);
  expect(report.changes.map(({ path, change }) => `${path} ${change}`)).toEqual([
    '.env created',
    'known/.env created',
    'unknown/.env removed',
  ]);
});

it('says that it was left where it cannot be moved', async () => {
  const root = await temporaryDirectory();
  await put(root, '.orion');
  const test = await openTestWorkspace({ root });
  const { changes } = await after(test, true, () => put(root, '.npmrc'));
  expect(changes).toEqual([{ path: '.npmrc', change: 'created', movedTo: null, restored: false }]);
  expect(await exists(join(root, '.npmrc'))).toBe(true);
});

it('moves it within the workspace where the state is on another file system, and keeps it as long', async () => {
  const test = await openTestWorkspace();
  const stateDirectory = join(await temporaryDirectory(), 'state');
  const workspace = await test.again({ stateDirectory });
  const { root, clock } = test;
  const disk = await interceptDisk();
  onTestFinished(() => disk.restore());
  disk.use(({ name, to = '' }) =>
    name === 'rename' && to.startsWith(stateDirectory) ? { kind: 'error', code: 'EXDEV' } : null,
  );
  const there = join(root, '.orion/set_aside');
  const { changes } = await after({ ...test, workspace }, true, () => put(root, '.vscode/x'));
  expect(changes).toMatchObject([{ path: '.vscode', change: 'created' }]);
  expect(changes[0]?.movedTo).toMatch(/^\.orion\/set_aside\/[0-9a-f-]{36}\/\.vscode$/u);
  expect(await readFile(join(root, changes[0]?.movedTo ?? '', 'x'), 'utf8')).toBe(
    'bytes of .vscode/x',
  );
  expect(await exists(join(root, '.vscode'))).toBe(false);
  expect((await lstat(there)).mode & 0o077).toBe(0);
  expect(await readFile(join(root, '.orion/.gitignore'), 'utf8')).toBe('*\n');
  clock.jump(31 * DAY_MS);
  await after({ ...test, workspace }, true, () => put(root, '.npmrc'));
  expect(await readdir(there)).toHaveLength(1);
  // A file system of its own inside the workspace.
  disk.use(({ name }) => (name === 'rename' ? { kind: 'error', code: 'EXDEV' } : null));
  const left = await after({ ...test, workspace }, true, () => put(root, '.env'));
  expect(left.changes).toMatchObject([{ path: '.env', movedTo: null }]);
  expect(await exists(join(root, '.env'))).toBe(true);
  expect(await readdir(there)).toHaveLength(1);
});

it('keeps it as long as the attic keeps a session', async () => {
  const test = await openTestWorkspace();
  const kept = (): Promise<string[]> => readdir(join(test.root, '.orion/set_aside'));
  await after(test, true, (root) => put(root, '.git/a/b'));
  const first = await kept();
  expect(first).toHaveLength(1);
  test.clock.jump(29 * DAY_MS);
  await after(test, true, (root) => put(root, '.npmrc'));
  expect(await kept()).toHaveLength(2);
  test.clock.jump(2 * DAY_MS);
  await after(test, true, (root) => put(root, '.npmrc'));
  expect(await kept()).toHaveLength(2);
  expect(await kept()).not.toContain(first[0]);
});

it('keeps the newest of what is too large together', async () => {
  const test = await openTestWorkspace({ settings: { atticMaxBytes: 40 } });
  for (const at of [1, 2, 3]) {
    await after(test, true, (root) => put(root, '.git/hooks/pre-commit'));
    test.clock.jump(1_000);
    expect(await readdir(join(test.root, '.orion/set_aside'))).toHaveLength(1);
    expect(at).toBeGreaterThan(0);
  }
});
