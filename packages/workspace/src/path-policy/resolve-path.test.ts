import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { interceptDisk } from '@orion/testkit/disk-faults';
import type { DiskErrorCode } from '@orion/testkit/disk-faults';
import { beforeEach, describe, expect, it } from 'vitest';

import { temporaryDirectory } from '../testing/temp-workspace.ts';
import { isInside, resolvePath } from './resolve-path.ts';

/** Hazard: a path that is judged at another place than where it leads. */

let root: string;

beforeEach(async () => {
  root = await temporaryDirectory();
  await mkdir(join(root, 'a/b'), { recursive: true });
  await mkdir(join(root, 'other'));
  await writeFile(join(root, 'a/file'), 'text');
  await symlink('b', join(root, 'a/near'));
  await symlink('../other/./', join(root, 'a/far'));
  await symlink(join(root, 'a/b'), join(root, 'absolute'));
  await symlink('nowhere/below', join(root, 'a/broken'));
  await symlink('file', join(root, 'a/to-file'));
  await symlink('loop', join(root, 'loop'));
});

/** In one line, without the folder of the test. */
async function told(path: string): Promise<string> {
  const result = await resolvePath(root, path.split('/'));
  const { stat, error, ...facts } = { stat: null, error: null, ...result };
  const kind = stat === null ? '' : stat.isDirectory() ? ' (directory)' : ' (file)';
  const failed = error === null ? '' : ` ${String((error as { code?: unknown }).code)}`;
  return JSON.stringify(facts).replaceAll(root, '') + kind + failed;
}

describe('a path leads', () => {
  it.each([
    ['', '{"kind":"found","realPath":""} (directory)'],
    ['a/b', '{"kind":"found","realPath":"/a/b"} (directory)'],
    ['a//./b/', '{"kind":"found","realPath":"/a/b"} (directory)'],
    ['a/file', '{"kind":"found","realPath":"/a/file"} (file)'],
    ['a/b/..', '{"kind":"found","realPath":"/a"} (directory)'],
    ['a/file/..', '{"kind":"found","realPath":"/a"} (directory)'],
    ['a/near', '{"kind":"found","realPath":"/a/b"} (directory)'],
    ['a/near/..', '{"kind":"found","realPath":"/a"} (directory)'],
    ['a/far', '{"kind":"found","realPath":"/other"} (directory)'],
    ['a/far/..', '{"kind":"found","realPath":""} (directory)'],
    ['absolute/../file', '{"kind":"found","realPath":"/a/file"} (file)'],
    ['a/to-file', '{"kind":"found","realPath":"/a/file"} (file)'],
    ['a/new', '{"kind":"missing","realPath":"/a/new","parent":"/a","missing":["new"]}'],
    [
      'a/far/new/./deep//er',
      '{"kind":"missing","realPath":"/other/new/deep/er","parent":"/other","missing":["new","deep","er"]}',
    ],
    [
      'a/broken/more',
      '{"kind":"missing","realPath":"/a/nowhere/below/more","parent":"/a","missing":["nowhere","below","more"]}',
    ],
    ['a/new/../file', '{"kind":"blocked","at":"/a/new"}'],
    ['a/file/more', '{"kind":"blocked","at":"/a/file"}'],
    ['a/to-file/more', '{"kind":"blocked","at":"/a/file"}'],
    ['loop', '{"kind":"loop"}'],
    ['loop/more', '{"kind":"loop"}'],
  ])('%j: %s', async (path, expected) => {
    expect(await told(path)).toBe(expected);
  });

  it('nowhere by a link to a name that is not UTF-8: as text, the name would be another one', async () => {
    const name = Buffer.from('d\xff', 'latin1');
    await mkdir(Buffer.concat([Buffer.from(`${root}/`), name]));
    await symlink(name, join(root, 'odd'));
    await symlink('a/b', join(root, '\ufffd'));
    expect(await told('odd/new')).toBe('{"kind":"unnamable","at":"/odd"}');
    expect(await told('\ufffd')).toBe('{"kind":"found","realPath":"/a/b"} (directory)');
  });

  it('through forty links and no more', async () => {
    for (let link = 1; link <= 41; link += 1)
      await symlink(link === 1 ? 'a' : `link${link - 1}`, join(root, `link${link}`));
    expect(await told('link40')).toBe('{"kind":"found","realPath":"/a"} (directory)');
    expect(await told('link41')).toBe('{"kind":"loop"}');
  });

  it.each<[string, 'lstat' | 'readlink', string, DiskErrorCode, string]>([
    ['a/b', 'lstat', 'a/b', 'EACCES', '{"kind":"refused","at":"/a/b"} EACCES'],
    ['a/near', 'readlink', 'a/near', 'EIO', '{"kind":"refused","at":"/a/near"} EIO'],
    ['a/b/..', 'lstat', 'a', 'EACCES', '{"kind":"refused","at":"/a"} EACCES'],
    ['', 'lstat', '', 'EIO', '{"kind":"refused","at":""} EIO'],
  ])('%j, where %s of %j fails', async (path, call, at, code, expected) => {
    const disk = await interceptDisk();
    try {
      let times = 0;
      disk.use((made) => {
        if (made.name !== call || made.path !== join(root, at)) return null;
        times += 1;
        // On the way up a directory is looked at a second time.
        return path.endsWith('..') && times === 1 ? null : { kind: 'error', code };
      });
      expect(await told(path)).toBe(expected);
    } finally {
      disk.restore();
    }
  });
});

it.each([
  ['/a', '/a', true],
  ['/a', '/a/b', true],
  ['/a', '/ab', false],
  ['/a', '/', false],
  ['/', '/a', true],
  ['/a/b', '/a', false],
])('isInside(%j, %j) is %s', (directory, path, is) => {
  expect(isInside(directory, path)).toBe(is);
});
