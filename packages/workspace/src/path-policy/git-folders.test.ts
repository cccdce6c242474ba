/** Hazard: git's configuration and hooks, written under a name that is not `.git` (B5). */
import { execFileSync } from 'node:child_process';
import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WRITE_OPERATIONS } from '@orion/contracts';
import { describe, expect, it } from 'vitest';
import { codeOf, commitRequest, openTestWorkspace } from '../testing/temp-workspace.ts';
import type { TestWorkspace } from '../testing/temp-workspace.ts';

async function withFolders(...names: readonly string[]): Promise<TestWorkspace> {
  const test = await openTestWorkspace();
  for (const name of names) await mkdir(join(test.root, name), { recursive: true });
  return test;
}

async function bareIn(folder: string): Promise<TestWorkspace> {
  const test = await withFolders(`${folder}/objects`, `${folder}/refs/heads`);
  await writeFile(join(test.root, folder, 'HEAD'), 'ref: refs/heads/main\n');
  await writeFile(join(test.root, folder, 'config'), '[core]\n\tbare = true\n');
  return test;
}

const create = (test: TestWorkspace, path: string): Promise<string> =>
  codeOf(test.workspace.checkTarget(path, 'create'));

describe('a bare repository in a folder', () => {
  it('runs no command that a write put into its config', async () => {
    const test = await bareIn('vendor/cache');
    for (const operation of WRITE_OPERATIONS) {
      const code = await codeOf(test.workspace.checkTarget('vendor/cache/config', operation));
      expect(code, operation).toBe('PROTECTED_PATH');
    }
    const hook = test.workspace.checkTarget('vendor/cache/hooks/pre-commit', 'create');
    await expect(hook).rejects.toMatchObject({
      message:
        '"vendor/cache/hooks/pre-commit" is protected (vendor/cache/**: git runs its hooks and obeys its configuration).',
    });
    expect(await create(test, 'vendor/cache/objects/info/alternates')).toBe('PROTECTED_PATH');
    expect(await create(test, 'vendor/other.txt')).toBe('no error');
  });

  it('as git itself makes it', async () => {
    const test = await openTestWorkspace();
    const git = (...args: readonly string[]) =>
      execFileSync('git', args, { cwd: test.root, stdio: 'pipe' });
    git('init', '--quiet', '--bare', 'mirror');
    expect(await create(test, 'mirror/config.worktree')).toBe('PROTECTED_PATH');
    expect(await codeOf(test.workspace.checkTarget('mirror/config', 'overwrite'))).toBe(
      'PROTECTED_PATH',
    );
  });

  it('does not come into being piece by piece', async () => {
    const test = await withFolders('x');
    const write = async (path: string): Promise<string> => {
      const code = await create(test, path);
      if (code !== 'no error') return code;
      const expected = await test.workspace.checkTarget(path, 'create');
      await test.workspace.commit(commitRequest('create', expected, 'text\n'));
      return 'written';
    };
    expect(await write('x/config')).toBe('written');
    expect(await write('x/objects/pack/x')).toBe('written');
    expect(await write('x/HEAD')).toBe('written');
    expect(await write('x/refs/heads/main')).toBe('PROTECTED_PATH');
    expect(await write('x/REFS/heads/main')).toBe('PROTECTED_PATH');
    expect(await write('x/commondir')).toBe('PROTECTED_PATH');
  });

  it('what a worktree has in common with others', async () => {
    const test = await withFolders('tree', 'common/objects', 'common/refs');
    await writeFile(join(test.root, 'tree', 'HEAD'), 'ref: refs/heads/main\n');
    await writeFile(join(test.root, 'tree', 'commondir'), '../common\n');
    expect(await create(test, 'tree/config.worktree')).toBe('PROTECTED_PATH');
    expect(await create(test, 'common/config')).toBe('PROTECTED_PATH');
    expect(await create(test, 'common/hooks/post-checkout')).toBe('PROTECTED_PATH');
  });
});

describe('a gitdir: file that points into the workspace', () => {
  it('protects where it leads, and what that leads to', async () => {
    const test = await withFolders('data/sub', 'common', 'src');
    await writeFile(join(test.root, '.git'), 'gitdir: ./data\n');
    await writeFile(join(test.root, 'data', 'commondir'), '../common\n');
    expect(await create(test, 'data/config')).toBe('PROTECTED_PATH');
    expect(await create(test, 'data/sub/hooks/x')).toBe('PROTECTED_PATH');
    expect(await create(test, 'common/config')).toBe('PROTECTED_PATH');
    expect(await create(test, 'src/config')).toBe('no error');
    expect(await create(test, 'data2/config')).toBe('no error');
  });

  it('of a folder below the root, by an absolute path, through a link', async () => {
    const test = await withFolders('app/data', 'app/other', 'lib/store');
    await writeFile(join(test.root, 'app', '.git'), `gitdir: ${join(test.root, 'app/data')}`);
    await symlink('store', join(test.root, 'lib', '.git'));
    await symlink('app/data', join(test.root, 'innocent'));
    expect(await create(test, 'app/data/config')).toBe('PROTECTED_PATH');
    expect(await create(test, 'innocent/config')).toBe('PROTECTED_PATH');
    expect(await create(test, 'app/other/config')).toBe('no error');
    expect(await create(test, 'lib/store/config')).toBe('PROTECTED_PATH');
  });
});

it('a commit looks again: the folder became a repository meanwhile', async () => {
  const test = await withFolders('x', 'y/objects', 'y/refs');
  await writeFile(join(test.root, 'y', 'HEAD'), 'ref: refs/heads/main\n');
  const expected = await test.workspace.checkTarget('x/config', 'create');
  await rename(join(test.root, 'x'), join(test.root, 'z'));
  await rename(join(test.root, 'y'), join(test.root, 'x'));
  expect(await codeOf(test.workspace.commit(commitRequest('create', expected, 'text')))).toBe(
    'PROTECTED_PATH',
  );
});

it('--allow-path opens it', async () => {
  const { again } = await bareIn('mirror');
  const bold = await again({ settings: { allowPaths: ['mirror/**'] } });
  const { allowed } = await bold.checkTarget('mirror/config', 'overwrite');
  expect(allowed).toEqual({ paths: ['mirror/config'], hardLink: false });
});

it('a yes for one name of a file is none for where it leads', async () => {
  const { root, again } = await bareIn('mirror');
  await symlink('mirror/config', join(root, '.env'));
  const bold = await again({ settings: { allowPaths: ['.env'] } });
  expect(await codeOf(bold.checkTarget('.env', 'overwrite'))).toBe('PROTECTED_PATH');
});

it('ordinary folders stay free', async () => {
  const test = await withFolders('refs', 'objects', 'game/objects', 'game/refs', 'a', 'b');
  await writeFile(join(test.root, 'a', 'HEAD'), 'notes\n');
  await writeFile(join(test.root, 'b', '.git'), 'not a link\n');
  for (const path of [
    'refs/heads.md',
    'objects/x.json',
    'game/objects/hero.json',
    'game/refs/list.md',
    'game/main.ts',
    'HEAD.md',
    'a/config',
    'a/refs/x',
    'b/config',
  ]) {
    expect(await create(test, path), path).toBe('no error');
  }
});
