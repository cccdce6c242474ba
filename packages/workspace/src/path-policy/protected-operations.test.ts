/** Protected paths, by every way in which a file can be changed (B5, B7, R255). */
import { link, mkdir, mkdtemp, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Workspace, WriteOperation } from '@orion/contracts';
import { WRITE_OPERATIONS } from '@orion/contracts';
import { describe, expect, it } from 'vitest';
import {
  codeOf,
  commitRequest,
  openTestWorkspace,
  partsOf,
  sourceOf,
} from '../testing/temp-workspace.ts';
import type { TestWorkspace } from '../testing/temp-workspace.ts';
import { PROTECTED_NAMES } from './protected-names.ts';

const PROTECTED = [
  '.git/hooks/pre-commit',
  '.GIT/config',
  '.env',
  'sub/.Env.local',
  '.vscode/x.json',
];

async function withFiles(
  options: Parameters<typeof openTestWorkspace>[0] = {},
): Promise<TestWorkspace> {
  const test = await openTestWorkspace(options);
  for (const path of PROTECTED) {
    await mkdir(join(test.root, path, '..'), { recursive: true });
    await writeFile(join(test.root, path), 'old');
  }
  return test;
}

describe('without a yes', () => {
  it.each(PROTECTED)('nothing changes %s', async (path) => {
    const { workspace } = await withFiles();
    for (const operation of WRITE_OPERATIONS) {
      expect(await codeOf(workspace.checkTarget(path, operation)), operation).toBe(
        'PROTECTED_PATH',
      );
    }
  });

  it('a commit looks again: what was allowed at begin may not be now', async () => {
    const { workspace, again } = await withFiles();
    const bold = await again({ settings: { allowPaths: ['.env'] } });
    const expected = await bold.checkTarget('.env', 'overwrite');
    const request = commitRequest('overwrite', expected, 'new');
    expect(await codeOf(workspace.commit(request))).toBe('PROTECTED_PATH');
    expect(await codeOf(workspace.prepareCommit(request))).toBe('PROTECTED_PATH');
    const [outcome] = await workspace.commitPlan({
      planId: 'plan',
      changes: [{ ...request, parts: partsOf('overwrite', expected, sourceOf('new')) }],
      siblingBackups: false,
      atomic: true,
    });
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'PROTECTED_PATH' } });
    const change = await bold.commit(request);
    expect(await codeOf(workspace.undo({ id: change.backup_id ?? '' }))).toBe('PROTECTED_PATH');
  });

  it('through links, and through a parent that leads there later', async () => {
    const { root, workspace } = await withFiles();
    await symlink('.env', join(root, 'innocent.txt'));
    await symlink('.git', join(root, 'tools'));
    await link(join(root, '.env'), join(root, 'other-name.txt'));
    expect(await codeOf(workspace.checkTarget('innocent.txt', 'overwrite'))).toBe('PROTECTED_PATH');
    expect(await codeOf(workspace.checkTarget('tools/hooks/x', 'create'))).toBe('PROTECTED_PATH');
    expect(await codeOf(workspace.checkTarget('other-name.txt', 'overwrite'))).toBe('HARD_LINK');

    await mkdir(join(root, 'src'));
    const expected = await workspace.checkTarget('src/hooks/x', 'create');
    await rename(join(root, 'src'), join(root, 'was-src'));
    await symlink('.git', join(root, 'src'));
    expect(await codeOf(workspace.commit(commitRequest('create', expected, 'x')))).toBe(
      'PROTECTED_PATH',
    );
  });
});

describe('with a yes', () => {
  it.each(PROTECTED_NAMES)('--allow-path opens $rule', async ({ rule }) => {
    const path = rule.replace(/\/\*\*$/u, '/x').replace(/\*$/u, '');
    const confirmProtectedPath = (): Promise<boolean> => Promise.resolve(false);
    const { workspace, again } = await openTestWorkspace({ confirmProtectedPath });
    expect(await codeOf(workspace.checkTarget(path, 'create'))).toBe('PROTECTED_PATH');
    const bold = await again({ confirmProtectedPath, settings: { allowPaths: [rule] } });
    expect(await codeOf(bold.checkTarget(path, 'create'))).toBe('no error');
  });

  it('of a person: asked once for a path, and a no stays a no', async () => {
    const asked: string[] = [];
    const { workspace } = await withFiles({
      confirmProtectedPath: async (path, rule) => {
        asked.push(`${path} ${rule}`);
        return path === '.env';
      },
    });
    const expected = await workspace.checkTarget('.env', 'overwrite');
    await workspace.commit(commitRequest('overwrite', expected, 'new'));
    for (const _ of [1, 2]) {
      expect(await codeOf(workspace.checkTarget('.git/config', 'overwrite'))).toBe(
        'PROTECTED_PATH',
      );
    }
    // Only where somebody can answer.
    expect(await codeOf(workspace.checkTarget('package.json', 'create'))).toBe('PROTECTED_PATH');
    expect(asked).toEqual(['.env .env*', '.git/config .git/**', 'package.json package.json']);
  });

  it('an answer that does not come fails the write, and is asked for again', async () => {
    let rounds = 0;
    const { workspace } = await withFiles({
      confirmProtectedPath: () => {
        rounds += 1;
        return rounds === 1 ? Promise.reject(new Error('aborted')) : Promise.resolve(true);
      },
    });
    await expect(workspace.checkTarget('.env', 'overwrite')).rejects.toThrow('aborted');
    expect(await codeOf(workspace.checkTarget('.env', 'overwrite'))).toBe('no error');
  });

  it('of no kind: its own state, and where this user keeps keys and permissions', async () => {
    const { root, again } = await openTestWorkspace();
    const userDirectory = await mkdtemp(join(root, 'cfg-'));
    const yes = await again({
      userKeyDirectory: userDirectory,
      settings: { allowPaths: ['**'] },
      confirmProtectedPath: () => Promise.resolve(true),
    });
    const name = userDirectory.slice(root.length + 1);
    await refuses(yes, ['.orion/x', '.ORION/backups/x', `${name}/trusted-workspaces.json`]);
  });
});

async function refuses(workspace: Workspace, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    for (const operation of ['create', 'overwrite'] satisfies WriteOperation[]) {
      expect(await codeOf(workspace.checkTarget(path, operation)), path).toBe('PROTECTED_PATH');
    }
  }
}
