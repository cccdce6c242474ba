import { execFileSync } from 'node:child_process';
import { mkdir, open, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { interceptDisk } from '@orion/testkit/disk-faults';
import type { DiskRule } from '@orion/testkit/disk-faults';
import { expect, test } from 'vitest';

import { temporaryDirectory } from '../testing/temp-workspace.ts';
import { ensurePrivateDirectory, makeDirectory, syncDirectory } from './directories.ts';
import {
  createFile,
  createWholeFile,
  openRegularFile,
  readRange,
  readSmallFile,
  removeIfThere,
  replaceFile,
  scanRange,
  temporaryName,
} from './files.ts';
import { writeAll, writeAllOf } from './write-all.ts';

const bytes = Buffer.from('text');

async function withDisk<T>(rule: DiskRule, action: () => Promise<T>): Promise<T> {
  const disk = await interceptDisk();
  disk.use(rule);
  try {
    return await action();
  } finally {
    disk.restore();
  }
}

test('only a regular file is opened, and nothing waits for the other end of a pipe', async () => {
  const folder = await temporaryDirectory();
  const file = join(folder, 'file');
  await writeFile(file, 'text');
  await symlink(file, join(folder, 'link'));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  for (const name of ['.', 'link', 'pipe', 'missing', 'file/below']) {
    expect(await openRegularFile(join(folder, name)), name).toBeNull();
  }
  const handle = await openRegularFile(file);
  expect(await handle?.readFile('utf8')).toBe('text');
  await handle?.close();
  await expect(
    withDisk(
      ({ name }) => (name === 'open' ? { kind: 'error', code: 'EACCES' } : null),
      () => openRegularFile(file),
    ),
  ).rejects.toMatchObject({ code: 'EACCES' });
  await expect(
    withDisk(
      ({ name }) => (name === 'fstat' ? { kind: 'error', code: 'EIO' } : null),
      () => openRegularFile(file),
    ),
  ).rejects.toMatchObject({ code: 'EIO' });
});

test('a small file is its text, missing, or unusable with the reason', async () => {
  const folder = await temporaryDirectory();
  const file = join(folder, 'file');
  await writeFile(file, 'täxt');
  const { mtimeMs } = await stat(file);
  expect(await readSmallFile(file, 5)).toEqual({
    kind: 'text',
    text: 'täxt',
    modifiedAt: mtimeMs,
  });
  expect(await readSmallFile(file, 4)).toEqual({ kind: 'unusable', reason: 'too large' });
  expect(await readSmallFile(join(folder, 'missing'), 5)).toEqual({ kind: 'missing' });
  for (const call of ['open', 'fstat', 'read']) {
    const read = await withDisk(
      ({ name }) => (name === call ? { kind: 'error', code: 'EIO' } : null),
      () => readSmallFile(file, 5),
    );
    expect(read, call).toEqual({
      kind: 'unusable',
      reason: 'EIO',
      error: expect.objectContaining({ code: 'EIO' }),
    });
  }
});

test.each([
  [1024, 'text'],
  [1025, 'unusable'],
])('a small file whose JSON is nested %i levels deep is %s', async (levels, kind) => {
  const file = join(await temporaryDirectory(), 'file');
  await writeFile(file, '['.repeat(levels) + ']'.repeat(levels));
  expect(await readSmallFile(file, 5000)).toMatchObject({ kind });
});

test('a range is read in pieces, from its start to its end', async () => {
  const folder = await temporaryDirectory();
  const file = join(folder, 'file');
  const long = Buffer.alloc(300 * 1024, 'abcdefg');
  await writeFile(file, long);
  const handle = await open(file);
  const read = async (start: number, end?: number) => {
    const chunks: Buffer[] = [];
    for await (const chunk of readRange(handle, start, end)) chunks.push(chunk);
    return chunks;
  };
  try {
    const all = await read(0);
    expect(all.map(({ length }) => length)).toEqual([256 * 1024, 44 * 1024]);
    expect(Buffer.concat(all).equals(long)).toBe(true);
    expect(Buffer.concat(await read(2, 9)).toString()).toBe('cdefgab');
    expect(await read(5, 5)).toEqual([]);
    expect(await read(9, 5)).toEqual([]);
    expect(await read(long.length)).toEqual([]);
    expect(Buffer.concat(await read(long.length - 2, long.length + 9)).length).toBe(2);
    const sizes: number[] = [];
    for await (const chunk of scanRange(handle, 1, 4)) sizes.push(chunk.length);
    expect(sizes).toEqual([3]);
  } finally {
    await handle.close();
  }
});

test('a new file is private and whole, or not there', async () => {
  const folder = await temporaryDirectory();
  const file = join(folder, 'file');
  await createFile(file, bytes);
  expect(await readFile(file, 'utf8')).toBe('text');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  await expect(createFile(file, bytes)).rejects.toMatchObject({ code: 'EEXIST' });
  expect(await readFile(file, 'utf8')).toBe('text');
  for (const call of ['write', 'fsync', 'close']) {
    const other = join(folder, 'other');
    const created = withDisk(
      ({ name }) => (name === call ? { kind: 'error', code: 'ENOSPC' } : null),
      () => createFile(other, bytes),
    );
    await expect(created, call).rejects.toMatchObject({ code: 'ENOSPC' });
  }
  expect(await readdir(folder)).toEqual(['file']);
});

test('a name appears with all of its bytes, and never twice', async () => {
  const folder = await temporaryDirectory();
  const file = join(folder, 'file');
  expect(await createWholeFile(file, bytes)).toBe(true);
  expect(await createWholeFile(file, Buffer.from('other'))).toBe(false);
  expect(await readFile(file, 'utf8')).toBe('text');
  for (const code of ['EPERM', 'EOPNOTSUPP', 'EACCES'] as const) {
    const noLinks: DiskRule = ({ name }) => (name === 'link' ? { kind: 'error', code } : null);
    const other = join(folder, code);
    expect(await withDisk(noLinks, () => createWholeFile(other, bytes))).toBe(true);
    expect(await readFile(other, 'utf8')).toBe('text');
    expect(await withDisk(noLinks, () => createWholeFile(other, bytes))).toBe(false);
  }
  const broken = withDisk(
    ({ name }) => (name === 'link' ? { kind: 'error', code: 'EIO' } : null),
    () => createWholeFile(join(folder, 'never'), bytes),
  );
  await expect(broken).rejects.toMatchObject({ code: 'EIO' });
  const full = withDisk(
    ({ name, path }) =>
      name === 'link'
        ? { kind: 'error', code: 'EPERM' }
        : name === 'write' && path.endsWith('never')
          ? { kind: 'error', code: 'ENOSPC' }
          : null,
    () => createWholeFile(join(folder, 'never'), bytes),
  );
  await expect(full).rejects.toMatchObject({ code: 'ENOSPC' });
  expect((await readdir(folder)).toSorted()).toEqual(['EACCES', 'EOPNOTSUPP', 'EPERM', 'file']);
});

test('a file is replaced whole, or stays', async () => {
  const folder = await temporaryDirectory();
  const file = join(folder, 'file');
  await replaceFile(file, Buffer.from('ä'));
  await replaceFile(file, Buffer.from('new'));
  expect(await readFile(file, 'utf8')).toBe('new');
  const replaced = withDisk(
    ({ name }) => (name === 'rename' ? { kind: 'error', code: 'EIO' } : null),
    () => replaceFile(file, Buffer.from('newer')),
  );
  await expect(replaced).rejects.toMatchObject({ code: 'EIO' });
  expect(await readFile(file, 'utf8')).toBe('new');
  expect(await readdir(folder)).toEqual(['file']);
  await removeIfThere(file);
  await removeIfThere(file);
  expect(await readdir(folder)).toEqual([]);
  await mkdir(file);
  await expect(removeIfThere(file)).rejects.toMatchObject({ code: /EPERM|EISDIR/ });
  expect(temporaryName('/a/file')).toMatch(/^\/a\/\.file\.[0-9a-f]{12}\.tmp$/);
});

test('every byte is written, however few the system takes at a time', async () => {
  const folder = await temporaryDirectory();
  const file = join(folder, 'file');
  const write = (rule: DiskRule) =>
    withDisk(rule, async () => {
      const handle = await open(file, 'w+');
      try {
        await writeAll(handle, Buffer.from('0123456789'), 2);
        await writeAllOf(handle, [Buffer.from('ab'), Buffer.from('cde'), Buffer.from('f')], 12);
        await writeAllOf(handle, [Buffer.from('g')], 18);
      } finally {
        await handle.close();
      }
      return readFile(file, 'utf8');
    });
  const expected = '\0\x000123456789abcdefg';
  expect(await write(() => null)).toBe(expected);
  expect(await write(({ name }) => (name === 'write' ? { kind: 'short', bytes: 3 } : null))).toBe(
    expected,
  );
  await expect(
    write(({ name }) => (name === 'write' ? { kind: 'short', bytes: 0 } : null)),
  ).rejects.toMatchObject({ code: 'EIO', errno: -5, message: 'write accepted no byte' });
});

test('directories that a person chose are made, links and all', async () => {
  const folder = await temporaryDirectory();
  await makeDirectory(join(folder, 'a/b/c'), 0o700);
  expect((await stat(join(folder, 'a/b'))).mode & 0o777).toBe(0o700);
  await symlink(join(folder, 'a'), join(folder, 'link'));
  await makeDirectory(join(folder, 'link/b'));
  await makeDirectory(join(folder, 'link'));
  await writeFile(join(folder, 'file'), '');
  await expect(makeDirectory(join(folder, 'file'))).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(makeDirectory(join(folder, 'file/x'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  await expect(makeDirectory('/proc/orion/state')).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a private directory is made durably, and a link in its place is refused', async () => {
  const folder = await temporaryDirectory();
  const path = join(folder, 'private');
  let synced = 0;
  const rule: DiskRule = ({ name, path: about }) => {
    if (name === 'fsync' && about === folder) synced += 1;
    return null;
  };
  await withDisk(rule, () => ensurePrivateDirectory(path));
  expect((await stat(path)).mode & 0o777).toBe(0o700);
  await withDisk(rule, () => ensurePrivateDirectory(path));
  expect(synced).toBe(1);
  await symlink(path, join(folder, 'link'));
  await expect(ensurePrivateDirectory(join(folder, 'link'))).rejects.toMatchObject({
    code: 'ENOTDIR',
    errno: -20,
    message: `${join(folder, 'link')} is a link, and not used for what Orion keeps: move it away`,
  });
  const unsynced = (code: 'EOPNOTSUPP' | 'EIO') =>
    withDisk(
      ({ name }) => (name === 'fsync' ? { kind: 'error', code } : null),
      () => syncDirectory(folder),
    );
  await expect(unsynced('EOPNOTSUPP')).resolves.toBeUndefined();
  await expect(unsynced('EIO')).rejects.toMatchObject({ code: 'EIO' });
});
