import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { interceptDisk } from '@orion/testkit/disk-faults';
import type { DiskCallName, DiskErrorCode } from '@orion/testkit/disk-faults';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { commitRequest, openTestWorkspace, sourceOf } from '../testing/temp-workspace.ts';

/** Hazard: a file system without links, or one that fails on the way, and nobody is told. */

let disk: Awaited<ReturnType<typeof interceptDisk>>;

beforeEach(async () => {
  disk = await interceptDisk();
});

afterEach(() => disk.restore());

/** The calls whose path ends so fail, those of the target's folder alone. */
function fail(code: DiskErrorCode, ...names: readonly DiskCallName[]): void {
  disk.use(({ name, path, to }) =>
    names.includes(name) && !path.includes('/.orion/') && !(to ?? '').includes('/.orion/')
      ? { kind: 'error', code }
      : null,
  );
}

async function created() {
  const { root, workspace } = await openTestWorkspace();
  const expected = await workspace.checkTarget('a.txt', 'create');
  const commit = (): Promise<unknown> =>
    workspace.commit(commitRequest('create', expected, 'one\n'));
  return { root, commit };
}

describe('a new file where links fail', () => {
  it.each<DiskErrorCode>(['EPERM', 'EOPNOTSUPP', 'EXDEV', 'EACCES'])(
    'with %s is made all the same, and told',
    async (code) => {
      const { root, commit } = await created();
      fail(code, 'link');
      expect(await commit()).toMatchObject({ bytes: 4, warnings: ['created_without_link'] });
      disk.use(null);
      expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('one\n');
      expect((await stat(join(root, 'a.txt'))).mode & 0o777).toBe(0o644);
      expect(await readdir(root)).toEqual(['.orion', 'a.txt']);
    },
  );

  it.each<[DiskErrorCode, string]>([
    ['EIO', 'WRITE_FAILED'],
    ['ENOSPC', 'DISK_FULL'],
  ])('with %s is not made', async (code, expected) => {
    const { root, commit } = await created();
    fail(code, 'link');
    await expect(commit()).rejects.toMatchObject({ code: expected });
    disk.use(null);
    expect(await readdir(root)).toEqual(['.orion']);
  });

  it('leaves none behind of which only a part was written', async () => {
    const { root, commit } = await created();
    let linked = false;
    disk.use(({ name, path }) => {
      if (name === 'link') linked = true;
      if (name === 'link') return { kind: 'error', code: 'EPERM' };
      return linked && name === 'write' && path.endsWith('/a.txt')
        ? { kind: 'error', code: 'ENOSPC' }
        : null;
    });
    await expect(commit()).rejects.toMatchObject({ code: 'DISK_FULL' });
    disk.use(null);
    expect(await readdir(root)).toEqual(['.orion']);
  });

  it('is another’s when one has come meanwhile', async () => {
    const { root, commit } = await created();
    await writeFile(join(root, 'a.txt'), 'other');
    await expect(commit()).rejects.toMatchObject({ code: 'FILE_EXISTS' });
    expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('other');
  });
});

it('a temporary name that cannot be removed is told', async () => {
  const { root, commit } = await created();
  fail('EIO', 'unlink');
  expect(await commit()).toMatchObject({ warnings: ['temporary_file_left'] });
  disk.use(null);
  expect((await readdir(root)).filter((name) => name.endsWith('.tmp'))).toHaveLength(1);
});

it('says of which file the previous bytes could not be read', async () => {
  const { root, workspace } = await openTestWorkspace();
  await writeFile(join(root, 'a.txt'), 'one\n');
  const expected = await workspace.checkTarget('a.txt', 'append');
  disk.use(({ name, path }) =>
    name === 'read' && path.endsWith('/a.txt') ? { kind: 'error', code: 'EIO' } : null,
  );
  await expect(workspace.commit(commitRequest('append', expected, 'two\n'))).rejects.toThrow(
    /a\.txt/u,
  );
  disk.use(null);
  expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('one\n');
});

it.each([
  ['bytes that the file has not', [{ kind: 'kept', start: 0, end: 5 }]],
  ['bytes before the first', [{ kind: 'kept', start: -1, end: 4 }]],
  ['a range that ends before it begins', [{ kind: 'kept', start: 3, end: 2 }]],
] as const)('never keeps %s', async (_name, parts) => {
  const { root, workspace } = await openTestWorkspace();
  await writeFile(join(root, 'a.txt'), 'one\n');
  const expected = await workspace.checkTarget('a.txt', 'append');
  const request = { ...commitRequest('append', expected), parts: [...parts] };
  await expect(workspace.commit(request)).rejects.toThrow(RangeError);
  const missing = await workspace.checkTarget('b.txt', 'create');
  const nothing = {
    ...commitRequest('create', missing),
    parts: [
      { kind: 'kept', start: 0, end: 0 },
      { kind: 'new', source: sourceOf('x') },
    ],
  } as const;
  await expect(workspace.commit(nothing)).rejects.toThrow(RangeError);
  expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('one\n');
});
