/** Hazard: what a dead process left in its file is taken for more text, or for less, than was written. */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../testing/temp-workspace.ts';
import { recoverContent } from './recover-content.ts';

const note = (bytes: number): string =>
  `${bytes} bytes at the end were not complete text and were removed.`;

it.each([
  // [what is in the file, durable bytes, after a restart, what is kept]
  ['', 0, false, ''],
  ['a\nb\n', 0, false, 'a\nb\n'],
  ['a\0\0', 0, false, 'a\0\0'],
  ['a\n\0\0', 0, true, 'a\n'],
  ['a\0\0\0', 2, true, 'a\0'],
  ['a\0\0\0', 4, true, 'a\0\0\0'],
  ['\0\0', 0, true, ''],
  ['\0b\0', 0, true, '\0b'],
  ['a\xe2\x82', 0, false, 'a'],
  ['a\xe2\x82\0', 0, true, 'a'],
  ['a\xf0\x9f\x98', 1, false, 'a'],
  ['\xf0\x9f\x98', 0, false, ''],
  ['a\xf0\x9f\x98\x80', 0, true, 'a\xf0\x9f\x98\x80'],
  // Longer than what is read at once, so that zeros fill a piece of their own.
  [`${'x\n'.repeat(131_072)}${'\0'.repeat(300_000)}`, 5, true, 'x\n'.repeat(131_072)],
  [`${'y\n'.repeat(200_000)}\xe2`, 0, false, 'y\n'.repeat(200_000)],
])('recovers %#, where it is and as a copy', async (before, durableBytes, afterRestart, kept) => {
  const directory = await temporaryDirectory();
  for (const copyTo of [join(directory, 'copy'), null]) {
    const path = join(directory, 'content');
    await writeFile(path, before, 'latin1');
    const found = await recoverContent({ path, isText: true, durableBytes, afterRestart, copyTo });
    const { handle, ...result } = found;
    const after = await readFile(result.path, 'latin1');
    expect(after === kept).toBe(true);
    expect((await handle.stat()).ino).toBe((await stat(result.path)).ino);
    expect(result).toEqual({
      path: copyTo ?? path,
      bytes: kept.length,
      lineFeeds: kept.split('\n').length - 1,
      notes: before.length === kept.length ? [] : [note(before.length - kept.length)],
    });
    if (copyTo !== null) {
      // A process that is only presumed dead still has its own file.
      expect((await stat(path)).size).toBe(before.length);
      expect((await stat(copyTo)).mode & 0o077).toBe(0);
    }
    await handle.write('more', kept.length);
    expect((await readFile(result.path, 'latin1')).endsWith('more')).toBe(true);
    await handle.close();
  }
});

it('takes nothing away that has the name of the copy, and makes no file that was not there', async () => {
  const directory = await temporaryDirectory();
  const path = join(directory, 'content');
  const copyTo = join(directory, 'copy');
  await writeFile(path, 'text');
  await writeFile(copyTo, 'other');
  const request = { path, isText: true, durableBytes: 0, afterRestart: false };
  await expect(recoverContent({ ...request, copyTo })).rejects.toMatchObject({ code: 'EEXIST' });
  expect(await readFile(copyTo, 'utf8')).toBe('other');
  await expect(
    recoverContent({ ...request, path: join(directory, 'none'), copyTo: null }),
  ).rejects.toMatchObject({ code: 'ENOENT' });
});

it.each(['a\xe2\x82', '\xf0\x9f\x98', 'a\xe9'])(
  'an upload ends where it ends: %j',
  async (before) => {
    const path = join(await temporaryDirectory(), 'content');
    await writeFile(path, before, 'latin1');
    const recovered = { path, isText: false, durableBytes: 0, afterRestart: false, copyTo: null };
    const { handle, bytes, notes } = await recoverContent(recovered);
    await handle.close();
    expect([bytes, notes]).toEqual([before.length, []]);
    expect(await readFile(path, 'latin1')).toBe(before);
  },
);
