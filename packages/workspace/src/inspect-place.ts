import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';

/** File systems whose locks and syncs depend on another machine, by the number that Linux has for them. */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0x01021997, '9P'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
]);

/** A folder in which Orion would write, without writing to it. */
export type InspectedPlace = {
  readonly kind: 'folder' | 'missing' | 'not_a_folder';
  /** Whether this user may write there; of a missing one, whether it could be made. */
  readonly writable: boolean;
  /** For this user; null where the system does not say. */
  readonly freeBytes: number | null;
  /** The name of its network file system; null for any other. */
  readonly network: string | null;
};

/** Inspects a folder, or the nearest one above it that exists. Never rejects. */
export async function inspectPlace(path: string): Promise<InspectedPlace> {
  let place = path;
  let found = await stat(place).catch(() => null);
  while (found === null && dirname(place) !== place) {
    place = dirname(place);
    found = await stat(place).catch(() => null);
  }
  const isFolder = found?.isDirectory() === true;
  const space = await statfs(place).catch(() => null);
  return {
    kind: place !== path ? 'missing' : isFolder ? 'folder' : 'not_a_folder',
    writable: isFolder && (await mayWrite(place)),
    freeBytes: space === null ? null : space.bavail * space.bsize,
    network: NETWORK_FILE_SYSTEMS.get((space?.type ?? 0) >>> 0) ?? null,
  };
}

function mayWrite(folder: string): Promise<boolean> {
  return access(folder, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
}
