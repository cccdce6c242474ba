/** Hazard: a change that is made, and something around it that is not: what the receipt says of it. R071, R245, A3, A6. */
import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync } from 'node:fs';
import { chmod, chown, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { interceptDisk } from '@orion/testkit/disk-faults';
import type { DiskRule } from '@orion/testkit/disk-faults';
import { describe, expect, it, onTestFinished } from 'vitest';
import { codeOf, commitRequest, openTestWorkspace } from '../testing/temp-workspace.ts';

async function withDisk(rule: DiskRule): Promise<{ readonly repair: () => void }> {
  const disk = await interceptDisk();
  onTestFinished(() => disk.restore());
  disk.use(rule);
  return { repair: () => disk.use(null) };
}

describe('a file that is made', () => {
  it('keeps its temporary name beside it where that cannot be removed, until the next sweep', async () => {
    const { root, workspace } = await openTestWorkspace();
    const expected = await workspace.checkTarget('a.txt', 'create');
    const disk = await withDisk(({ name, path }) =>
      name === 'unlink' && basename(path).startsWith('.orion-')
        ? { kind: 'error', code: 'EIO' }
        : null,
    );
    const result = await workspace.commit(commitRequest('create', expected, 'text\n'));
    disk.repair();
    expect(result.warnings).toEqual(['temporary_file_left']);
    expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('text\n');
    expect(readdirSync(root)).toHaveLength(3);
    await workspace.sessions.housekeep();
    expect(readdirSync(root)).toEqual(['.orion', 'a.txt']);
    // It was the same file by another name: the record of the change stays.
    expect((await workspace.undo({})).files).toMatchObject([{ outcome: 'removed' }]);
  });

  it('is made without a record where none can be kept, and one that exists is not changed', async () => {
    const { root, workspace } = await openTestWorkspace();
    await writeFile(join(root, '.orion'), 'a file in its place');
    const expected = await workspace.checkTarget('a.txt', 'create');
    const result = await workspace.commit(commitRequest('create', expected, 'text\n'));
    expect(result.warnings).toEqual(['no_undo_record']);
    expect(result.backup_id).toBeUndefined();
    expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('text\n');
    expect(await Array.fromAsync(workspace.changes())).toEqual([]);
    const existing = await workspace.checkTarget('a.txt', 'overwrite');
    const change = workspace.commit(commitRequest('overwrite', existing, 'new\n'));
    await expect(change).rejects.toMatchObject({ name: 'OrionError' });
    expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('text\n');
    expect(readdirSync(root)).toEqual(['.orion', 'a.txt']);
  });
});

describe('a file system that sets no modes', () => {
  const refuse: DiskRule = ({ name }) =>
    name === 'fchmod' || name === 'chmod' || name === 'copyfile'
      ? { kind: 'error', code: 'EPERM' }
      : null;

  it('R248, A6: has its files written, with the mode that they got', async () => {
    const { root, workspace } = await openTestWorkspace();
    await writeFile(join(root, 'a.txt'), 'old\n', { mode: 0o640 });
    const expected = await workspace.checkTarget('a.txt', 'overwrite');
    const created = await workspace.checkTarget('b.txt', 'create');
    const disk = await withDisk(refuse);
    const made = await workspace.commit(commitRequest('create', created, 'new\n'));
    expect(made).toMatchObject({ mode: '0600', not_kept: [] });
    const result = await workspace.commit(commitRequest('overwrite', expected, 'new\n'));
    // Where there is a program that copies access lists, it has set the mode as well.
    const mode = process.platform === 'linux' ? '0640' : '0600';
    expect(result.mode).toBe(mode);
    expect(result.not_kept.includes('mode')).toBe(mode === '0600');
    expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('new\n');
    disk.repair();
    expect((await workspace.undo({})).files).toMatchObject([{ outcome: 'restored' }]);
    expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('old\n');
  });

  it('refuses a change that would let others read what they could not', async () => {
    const { root, workspace } = await openTestWorkspace();
    const path = join(root, 'a.txt');
    await writeFile(path, 'secret\n', { mode: 0o600 });
    const expected = await workspace.checkTarget('a.txt', 'overwrite');
    await withDisk((call) => {
      const isTemporary = basename(call.path).startsWith('.orion-');
      if (call.name === 'fstat' && isTemporary) chmodSync(call.path, 0o644);
      return refuse(call);
    });
    const change = workspace.commit(commitRequest('overwrite', expected, 'new\n'));
    expect(await codeOf(change)).toBe('PERMISSION_DENIED');
    expect(await readFile(path, 'utf8')).toBe('secret\n');
    expect(readdirSync(root)).toEqual(['.orion', 'a.txt']);
  });
});

describe.skipIf(process.getuid?.() !== 0)('a file of somebody else (needs root)', () => {
  it('A6: that cannot be given back to its owner loses set-id bits, and both are said', async () => {
    const { root, workspace } = await openTestWorkspace();
    const path = join(root, 'tool');
    await writeFile(path, 'old\n');
    await chown(path, 12_345, 12_345);
    await chmod(path, 0o4755);
    const expected = await workspace.checkTarget('tool', 'overwrite');
    const disk = await withDisk(({ name }) =>
      name === 'fchown' ? { kind: 'error', code: 'EPERM' } : null,
    );
    const result = await workspace.commit(commitRequest('overwrite', expected, 'new\n'));
    disk.repair();
    expect(result).toMatchObject({ mode: '0755', not_kept: ['owner', 'acls', 'mode'] });
    const found = await stat(path);
    expect([found.uid, (found.mode & 0o7777).toString(8)]).toEqual([process.getuid?.(), '755']);
  });

  it.each([
    ['0640', 1, { mode: '0640', gid: 12_345, not_kept: ['owner'] }],
    ['0640', 2, { mode: '0600', gid: process.getgid?.(), not_kept: ['owner', 'acls', 'mode'] }],
    ['0664', 2, { mode: '0644', gid: process.getgid?.(), not_kept: ['owner', 'acls', 'mode'] }],
    ['0644', 2, { mode: '0644', gid: process.getgid?.(), not_kept: ['owner'] }],
  ])(
    'A6: of mode %s keeps its group, or gives the rights of that to no other one (%i refused)',
    async (before, refused, { mode, gid, not_kept }) => {
      const { root, workspace } = await openTestWorkspace();
      const path = join(root, 'a.txt');
      await writeFile(path, 'old\n');
      await chown(path, 12_345, 12_345);
      await chmod(path, before);
      const expected = await workspace.checkTarget('a.txt', 'overwrite');
      let calls = 0;
      await withDisk(({ name }) => {
        calls += name === 'fchown' ? 1 : 0;
        return name === 'fchown' && calls <= refused ? { kind: 'error', code: 'EPERM' } : null;
      });
      const result = await workspace.commit(commitRequest('overwrite', expected, 'new\n'));
      expect(result).toMatchObject({ mode, not_kept });
      const found = await stat(path);
      expect([found.uid, found.gid]).toEqual([process.getuid?.(), gid]);
      expect((found.mode & 0o7777).toString(8)).toBe(mode.slice(1));
    },
  );

  it('A6: keeps its owner and its set-id bits where that is allowed', async () => {
    const { root, workspace } = await openTestWorkspace();
    const path = join(root, 'tool');
    await writeFile(path, 'old\n');
    await chown(path, 12_345, 54_321);
    await chmod(path, 0o6755);
    const expected = await workspace.checkTarget('tool', 'overwrite');
    const result = await workspace.commit(commitRequest('overwrite', expected, 'new\n'));
    expect(result).toMatchObject({ mode: '6755', not_kept: [] });
    const found = await stat(path);
    expect([found.uid, found.gid, (found.mode & 0o7777).toString(8)]).toEqual([
      12_345,
      54_321,
      '6755',
    ]);
  });
});

describe('an access list', () => {
  // Version 2; owner rw, user 12345 r, group r, mask r, others none.
  const entries = [
    [1, 6, -1],
    [2, 4, 12_345],
    [4, 4, -1],
    [16, 4, -1],
    [32, 0, -1],
  ];
  const bytes = listOf(entries);
  const set = (kind: 'access' | 'default'): string =>
    `import os, sys; os.setxattr(sys.argv[1], "system.posix_acl_${kind}", bytes.fromhex(sys.argv[2]))`;
  const get = 'import os, sys; print(os.getxattr(sys.argv[1], "system.posix_acl_access").hex())';
  const python = (script: string, ...args: string[]): string | null => {
    const ended = spawnSync('python3', ['-c', script, ...args], { encoding: 'utf8' });
    return ended.status === 0 ? ended.stdout.trim() : null;
  };

  it('A6: goes over to the new file, or is said to be lost', async (test) => {
    const { root, workspace } = await openTestWorkspace();
    const path = join(root, 'a.txt');
    await writeFile(path, 'old\n');
    if (python(set('access'), path, bytes.toString('hex')) === null) {
      test.skip('no access lists here, or no program that sets them');
    }
    const expected = await workspace.checkTarget('a.txt', 'overwrite');
    const result = await workspace.commit(commitRequest('overwrite', expected, 'new\n'));
    const isKept = python(get, path) === bytes.toString('hex');
    expect(result.not_kept.includes('acls')).toBe(!isKept);
    if (process.platform === 'linux') expect(isKept).toBe(true);
  });

  it('of the folder gives a new file the rights that it gives those of every program', async (test) => {
    const { root, workspace } = await openTestWorkspace();
    // Owner rwx, group r-x, group 12345 rwx, mask rwx, others none.
    const inherited = listOf([
      [1, 7, -1],
      [4, 5, -1],
      [8, 7, 12_345],
      [16, 7, -1],
      [32, 0, -1],
    ]);
    if (python(set('default'), root, inherited.toString('hex')) === null) {
      test.skip('no access lists here, or no program that sets them');
    }
    const plain = join(root, 'plain.txt');
    await writeFile(plain, 'text\n');
    const expected = await workspace.checkTarget('a.txt', 'create');
    const result = await workspace.commit(commitRequest('create', expected, 'text\n'));
    expect(result).toMatchObject({ mode: '0660', not_kept: [] });
    expect((await stat(join(root, 'a.txt'))).mode).toBe((await stat(plain)).mode);
    expect(python(get, join(root, 'a.txt'))).toBe(python(get, plain));
  });
});

function listOf(entries: readonly (readonly number[])[]): Buffer {
  const bytes = Buffer.alloc(4 + entries.length * 8);
  bytes.writeUInt32LE(2, 0);
  for (const [index, [tag = 0, permissions = 0, id = -1]] of entries.entries()) {
    bytes.writeUInt16LE(tag, 4 + index * 8);
    bytes.writeUInt16LE(permissions, 6 + index * 8);
    bytes.writeInt32LE(id, 8 + index * 8);
  }
  return bytes;
}
