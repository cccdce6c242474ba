import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { networkFileSystem, networkFileSystemOf } from './network-file-system.ts';

test.each([
  [0x6969, 'NFS'],
  [0xff534d42, 'SMB'],
  // As a signed number.
  [0xff534d42 - 2 ** 32, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0x517b, 'SMB'],
  // ext4, tmpfs, overlayfs, xfs, btrfs.
  [0xef53, null],
  [0x01021994, null],
  [0x794c7630, null],
  [0x58465342, null],
  [0x9123683e, null],
  [0, null],
])('the file system %i is %s', (type, name) => {
  expect(networkFileSystem(type)).toBe(name);
});

test('a place that does not exist yet is on the disk of the folder above it', async () => {
  expect(await networkFileSystemOf(join(tmpdir(), 'not', 'there'))).toBeNull();
});
