import { constants } from 'node:fs';
import { lstat, mkdir, open, rm, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { InPlaceOfDirectory, isErrno } from './disk-error.ts';

/** Makes created, renamed and removed names of a directory durable. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await syncHandle(handle);
  } finally {
    await handle.close();
  }
}

/** The same, of one that is open. */
export async function syncHandle(directory: FileHandle): Promise<void> {
  try {
    await directory.sync();
  } catch (error) {
    // Some file systems cannot sync a directory; there is nothing better to do then.
    if (!isErrno(error, 'EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'EISDIR')) throw error;
  }
}

/**
 * Makes a directory that a person chose, with those above it; one that stands may be a link. Not by `mkdir` with
 * `recursive`, which never ends where a directory takes no new names and says that it is not there, as `/proc` does.
 */
export async function makeDirectory(path: string, mode: number = 0o777): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    if (isErrno(error, 'ENOENT') && dirname(path) !== path) {
      await makeDirectory(dirname(path), mode);
      await mkdir(path, { mode }).catch(async (again: unknown) => {
        if (!(await isDirectory(path))) throw again;
      });
      return;
    }
    if (!(await isDirectory(path))) throw error;
  }
}

/** Removes what was left in the making, unless somebody may still be making it. */
export async function removeIfOlder(path: string, ageMs: number, now: number): Promise<void> {
  const found = await lstat(path).catch(() => null);
  if (found === null || now - found.mtimeMs < ageMs) return;
  await rm(path, { recursive: true, force: true });
}

async function isDirectory(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found?.isDirectory() === true;
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
    throw new InPlaceOfDirectory(path, found);
  }
  await syncDirectory(dirname(path));
}
