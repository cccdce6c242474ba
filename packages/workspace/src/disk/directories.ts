import { constants } from 'node:fs';
import { lstat, mkdir, open, rm, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { InPlaceOfDirectory, isErrno } from './disk-error.ts';

/** Makes the directory's created, renamed and removed names durable. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await syncHandle(handle);
  } finally {
    await handle.close();
  }
}

/** The same for an open directory. */
export async function syncHandle(directory: FileHandle): Promise<void> {
  try {
    await directory.sync();
  } catch (error) {
    // Some file systems cannot sync a directory. There is no alternative.
    if (!isErrno(error, 'EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'EISDIR')) throw error;
  }
}

/**
 * Creates a directory that a person chose, with its parents. An existing one may be a link. Does not use `mkdir` with
 * `recursive`, which loops forever in a directory such as `/proc` that accepts no new names and reports ENOENT.
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

/** Removes an unfinished directory, unless it is recent and may still be in use. */
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
 * Durably creates a private directory inside an existing one. Rejects a symbolic link in its place: a foreign workspace
 * could use it to redirect the state.
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
