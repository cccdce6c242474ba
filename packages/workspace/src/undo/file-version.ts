import type { FileVersion } from '@orion/contracts';

import type { BackupStore } from '../commit/backup-store.ts';
import { hashPath } from '../commit/hash-file.ts';
import { targetChanged } from '../commit/commit-errors.ts';
import { streamFile } from '../disk/files.ts';
import { shown } from '../path-policy/parse-target.ts';
import type { PathPolicy } from '../path-policy/path-policy.ts';

/** The bytes that a file has, or had, under this hash: its own, or those that a backup keeps; null if they are gone. */
export async function fileVersion(
  { policy, backups }: { readonly policy: PathPolicy; readonly backups: BackupStore },
  path: string,
  sha256: string,
): Promise<FileVersion | null> {
  const { realPath } = await policy.containReadable(path);
  const open = async (place: string): Promise<FileVersion | null> => {
    const found = await hashPath(place);
    if (found?.sha256 !== sha256) return null;
    return {
      bytes: found.bytes,
      read: () => streamFile(place, `read ${shown(path)}`, targetChanged(path)),
    };
  };
  const present = await open(realPath);
  if (present !== null) return present;
  for await (const backup of backups.readEach(await backups.ids())) {
    if (backup.path !== path || backup.before?.sha256 !== sha256) continue;
    const kept = await open(await backups.contentPath(backup.id));
    if (kept !== null) return kept;
  }
  return null;
}
