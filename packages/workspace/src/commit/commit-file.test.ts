import { existsSync, statSync } from 'node:fs';
import {
  chmod,
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  codeOf,
  commitRequest,
  jsonAt,
  openTestWorkspace,
  sha256,
  sourceOf,
} from '../testing/temp-workspace.ts';

async function leftovers(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory, { recursive: true });
  return names.filter((name) => name.endsWith('.tmp') && !name.startsWith('.orion/'));
}

describe('commit', () => {
  it('creates a file and its directories', async () => {
    const { root, workspace } = await openTestWorkspace();
    const expected = await workspace.checkTarget('a/b/c.txt', 'create');
    const journal: unknown[] = [];
    const result = await workspace.commit({
      ...commitRequest('create', expected, 'one\r\n', 'two'),
      journal: async (writing) => {
        journal.push(writing);
        expect(existsSync(join(root, 'a/b/c.txt'))).toBe(false);
        expect(await readFile(join(root, writing.temp), 'utf8')).toBe('one\r\ntwo');
      },
    });
    expect(await readFile(join(root, 'a/b/c.txt'), 'utf8')).toBe('one\r\ntwo');
    expect(result).toEqual({
      path: 'a/b/c.txt',
      bytes: 8,
      lines: 2,
      sha256: sha256('one\r\ntwo'),
      eol: 'crlf',
      bom: false,
      mode: (0o666 & ~process.umask()).toString(8).padStart(4, '0'),
      backup_id: expect.stringMatching(/^\d{8}T\d{9}Z-[0-9a-f]{16}$/u),
      warnings: [],
      not_kept: [],
    });
    expect(journal).toHaveLength(1);
    expect(await leftovers(root)).toEqual([]);
    expect(statSync(join(root, 'a/b/c.txt')).nlink).toBe(1);
  });

  it('overwrites, keeping mode and the previous bytes', async () => {
    const { root, workspace } = await openTestWorkspace();
    await writeFile(join(root, 'run.sh'), 'old');
    await chmod(join(root, 'run.sh'), 0o755);
    const expected = await workspace.checkTarget('run.sh', 'overwrite');
    const result = await workspace.commit(commitRequest('overwrite', expected, '\ufeffnew\n'));
    expect(result).toMatchObject({ mode: '0755', bom: true, eol: 'lf', warnings: [] });
    expect(statSync(join(root, 'run.sh')).mode & 0o7777).toBe(0o755);
    const backup = join(root, '.orion/backups', result.backup_id ?? '');
    expect(await readFile(join(backup, 'content'), 'utf8')).toBe('old');
    expect(await jsonAt(join(backup, 'manifest.json'))).toMatchObject({
      version: 1,
      path: 'run.sh',
      operation: 'overwrite',
      before: { sha256: sha256('old'), bytes: 3, mode: '0755' },
      after: { sha256: sha256('\ufeffnew\n') },
    });
  });

  it('appends to exactly the bytes that were there', async () => {
    const { root, workspace } = await openTestWorkspace();
    await writeFile(join(root, 'log.txt'), 'one\n');
    const expected = await workspace.checkTarget('log.txt', 'append');
    const result = await workspace.commit(commitRequest('append', expected, 'two\n'));
    expect(await readFile(join(root, 'log.txt'), 'utf8')).toBe('one\ntwo\n');
    expect(result).toMatchObject({ bytes: 4, lines: 1, sha256: sha256('one\ntwo\n') });
    expect(await codeOf(workspace.commit(commitRequest('append', expected, 'two\n')))).toBe(
      'TARGET_CHANGED',
    );
    expect(await readFile(join(root, 'log.txt'), 'utf8')).toBe('one\ntwo\n');
  });

  it('makes a missing file on overwrite, and says so', async () => {
    const { workspace } = await openTestWorkspace();
    const expected = await workspace.checkTarget('new.txt', 'overwrite');
    const result = await workspace.commit(commitRequest('overwrite', expected, 'x'));
    expect(result.warnings).toEqual(['created_missing']);
    expect(result.backup_path).toBeUndefined();
  });

  it('writes through a link and leaves the link', async () => {
    const { root, workspace } = await openTestWorkspace();
    await mkdir(join(root, 'real'));
    await writeFile(join(root, 'real/a.txt'), 'old');
    await symlink('real/a.txt', join(root, 'a.txt'));
    const expected = await workspace.checkTarget('a.txt', 'overwrite');
    await workspace.commit(commitRequest('overwrite', expected, 'new'));
    expect((await lstat(join(root, 'a.txt'))).isSymbolicLink()).toBe(true);
    expect(await readFile(join(root, 'real/a.txt'), 'utf8')).toBe('new');
  });

  it('refuses a hard link unless it may part it', async () => {
    const { root, workspace, again } = await openTestWorkspace();
    await writeFile(join(root, 'a.txt'), 'old');
    await link(join(root, 'a.txt'), join(root, 'b.txt'));
    expect(await codeOf(workspace.checkTarget('a.txt', 'overwrite'))).toBe('HARD_LINK');
    const bold = await again({ settings: { allowHardLink: true } });
    const expected = await bold.checkTarget('a.txt', 'overwrite');
    const result = await bold.commit(commitRequest('overwrite', expected, 'new'));
    expect(result.not_kept).toEqual(['hard_link']);
    expect(await readFile(join(root, 'b.txt'), 'utf8')).toBe('old');
  });

  it.each([
    ['same size and time', 'OLD'],
    ['another size', 'longer'],
  ])('stops when the target changed: %s', async (_name, bytes) => {
    const { root, workspace } = await openTestWorkspace();
    await writeFile(join(root, 'a.txt'), 'old');
    const expected = await workspace.checkTarget('a.txt', 'overwrite');
    const { atime, mtime } = statSync(join(root, 'a.txt'));
    await writeFile(join(root, 'a.txt'), bytes);
    await utimes(join(root, 'a.txt'), atime, mtime);
    expect(await codeOf(workspace.commit(commitRequest('overwrite', expected, 'new')))).toBe(
      'TARGET_CHANGED',
    );
    expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe(bytes);
    expect(await leftovers(root)).toEqual([]);
    expect(await readdir(join(root, '.orion/backups')).catch(() => [])).toEqual([]);
  });

  it.each(['overwrite', 'append'] as const)(
    'stops when the target changes while it writes: %s',
    async (operation) => {
      const { root, workspace } = await openTestWorkspace();
      await writeFile(join(root, 'a.txt'), 'old');
      const expected = await workspace.checkTarget('a.txt', operation);
      const request = {
        ...commitRequest(operation, expected, 'new'),
        journal: () => writeFile(join(root, 'a.txt'), 'OLD'),
      };
      expect(await codeOf(workspace.commit(request))).toBe('TARGET_CHANGED');
      expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('OLD');
      expect(await leftovers(root)).toEqual([]);
    },
  );

  it('does not keep other bytes for undo than those it replaces', async () => {
    const { root, workspace } = await openTestWorkspace();
    await writeFile(join(root, 'a.txt'), 'old');
    const expected = await workspace.checkTarget('a.txt', 'overwrite');
    await writeFile(join(root, 'a.txt'), 'OLD');
    const request = {
      ...commitRequest('overwrite', expected, 'new'),
      // Back in time for the last look at the target.
      journal: () => writeFile(join(root, 'a.txt'), 'old'),
    };
    expect(await codeOf(workspace.commit(request))).toBe('TARGET_CHANGED');
    expect(await readdir(join(root, '.orion/backups'))).toEqual([]);
  });

  it('never replaces a file that appears', async () => {
    const { root, workspace } = await openTestWorkspace();
    const expected = await workspace.checkTarget('a.txt', 'create');
    const before = commitRequest('create', expected, 'mine');
    await writeFile(join(root, 'a.txt'), 'theirs');
    expect(await codeOf(workspace.commit(before))).toBe('FILE_EXISTS');
    await rm(join(root, 'a.txt'));
    const late = { ...before, journal: () => writeFile(join(root, 'a.txt'), 'theirs') };
    expect(await codeOf(workspace.commit(late))).toBe('FILE_EXISTS');
    expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('theirs');
    expect(await leftovers(root)).toEqual([]);
  });

  it('stops when the target is gone', async () => {
    const { root, workspace } = await openTestWorkspace();
    await writeFile(join(root, 'a.txt'), 'old');
    const expected = await workspace.checkTarget('a.txt', 'overwrite');
    await rm(join(root, 'a.txt'));
    expect(await codeOf(workspace.commit(commitRequest('overwrite', expected, 'new')))).toBe(
      'TARGET_CHANGED',
    );
    expect(existsSync(join(root, 'a.txt'))).toBe(false);
  });

  it('leaves nothing when its source or its journal fails', async () => {
    const { root, workspace } = await openTestWorkspace();
    await writeFile(join(root, 'a.txt'), 'old');
    const expected = await workspace.checkTarget('a.txt', 'overwrite');
    const request = commitRequest('overwrite', expected, 'new');
    const failing = (): Promise<void> => Promise.reject(new Error('no journal'));
    await expect(workspace.commit({ ...request, journal: failing })).rejects.toThrow('no journal');
    const source = async function* (): AsyncGenerator<Uint8Array> {
      yield* sourceOf('half')();
      throw new Error('no source');
    };
    const parts = [{ kind: 'new', source }] as const;
    await expect(workspace.commit({ ...request, parts })).rejects.toThrow('no source');
    expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('old');
    expect(await leftovers(root)).toEqual([]);
    expect(await readdir(join(root, '.orion/backups'))).toEqual([]);
    expect(await readdir(join(root, '.orion/temporaries'))).toEqual([]);
  });

  it('says when a directory cannot be made', async () => {
    const { root, workspace } = await openTestWorkspace();
    await writeFile(join(root, 'file'), '');
    expect(await codeOf(workspace.checkTarget('file/a.txt', 'create'))).toBe('DIR_CREATE_FAILED');
    const expected = await workspace.checkTarget('later/a.txt', 'create');
    await writeFile(join(root, 'later'), '');
    expect(await codeOf(workspace.commit(commitRequest('create', expected, 'x')))).toBe(
      'DIR_CREATE_FAILED',
    );
  });

  it('commits without a usable state directory when there is nothing to keep', async () => {
    const { root, workspace } = await openTestWorkspace();
    await writeFile(join(root, '.orion'), 'in the way');
    const expected = await workspace.checkTarget('a.txt', 'create');
    await workspace.commit(commitRequest('create', expected, 'x'));
    expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('x');
    const again = await workspace.checkTarget('a.txt', 'overwrite');
    expect(await codeOf(workspace.commit(commitRequest('overwrite', again, 'y')))).toBe(
      'STORE_FOREIGN',
    );
    expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('x');
  });
});
