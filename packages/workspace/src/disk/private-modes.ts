import { constants } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';

const OPEN_FOR_OTHERS = 0o077;
const FLAGS: number = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Takes away what others may do with a file or directory of this user's, and with everything below it; a directory
 * that is closed already is not looked into, since nobody else can. No link is followed, nothing of another user's is
 * touched, and what cannot be changed (a file system without modes) stays as it is.
 */
export async function closeToOthers(path: string): Promise<void> {
  const user = process.geteuid?.();
  if (user === undefined) return;
  const found = await lstat(path).catch(() => null);
  if (found === null || found.uid !== user || (found.mode & OPEN_FOR_OTHERS) === 0) return;
  const isDirectory = found.isDirectory();
  if (!isDirectory && !found.isFile()) return;
  await changeMode(path, isDirectory ? 0o700 : 0o600);
  if (!isDirectory) return;
  for (const name of await readdir(path).catch(() => [])) await closeToOthers(join(path, name));
}

/** Through an open handle, so that a link that takes the place meanwhile is not followed. */
async function changeMode(path: string, mode: number): Promise<void> {
  const handle = await open(path, FLAGS).catch(() => null);
  if (handle === null) return;
  try {
    await handle.chmod(mode);
  } catch {
    // A file system without modes.
  } finally {
    await handle.close().catch(() => undefined);
  }
}
