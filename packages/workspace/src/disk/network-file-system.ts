/** Which file systems are another machine's: what one process does there, others may see a minute later. */
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isErrno } from './disk-error.ts';

/** The numbers by which Linux knows them. */
const NETWORK: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0x01021997, '9P'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'AFS'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x7461636f, 'OCFS2'],
  [0x01161970, 'GFS2'],
  [0x73757245, 'Coda'],
  [0x564c, 'NCP'],
]);

/** By the `type` that `statfs` reports, which may be signed; null for any other. */
export function networkFileSystem(type: number): string | null {
  return NETWORK.get(type < 0 ? type + 2 ** 32 : type) ?? null;
}

/** Of the place, which need not exist yet; null if it is this machine's, or cannot be told. */
export async function networkFileSystemOf(path: string): Promise<string | null> {
  for (let place = path; ; place = dirname(place)) {
    try {
      return networkFileSystem((await statfs(place)).type);
    } catch (error) {
      if (!isErrno(error, 'ENOENT', 'ENOTDIR') || place === dirname(place)) return null;
    }
  }
}
