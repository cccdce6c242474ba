import { constants } from 'node:fs';
import { lstat, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf, isErrno } from './disk-error.ts';

/** Some file systems cannot sync a directory; there is nothing better to do then. */
const UNSUPPORTED = ['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'EISDIR'];

/** Makes created, renamed and removed names of a directory durable. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await handle.sync();
  } catch (error) {
    if (!UNSUPPORTED.includes(errnoOf(error) ?? '')) throw error;
  } finally {
    await handle.close();
  }
}

/**
 * Makes a private directory inside one that exists, durably. A symbolic link in its place is refused:
 * a workspace from a stranger could lead the state elsewhere with it.
 */
export async function ensurePrivateDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error;
    const found = await lstat(path);
    if (found.isDirectory()) return;
    throw Object.assign(new Error(`${path} is not a directory`), { errno: -20, code: 'ENOTDIR' });
  }
  await syncDirectory(dirname(path));
}
