import { closeSync, constants, fchmodSync, lstatSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from './disk-error.ts';

const OPEN_FOR_OTHERS = 0o077;
const FLAGS: number = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Removes other users' access to a file or directory of this user, and to everything below it. A directory that is
 * already closed to others is skipped. Links are not followed, files of other users are left alone, and modes that
 * cannot be changed (on a file system without modes) stay.
 *
 * The calls are synchronous. This runs once per tree at a start, a repository may contain 50,000 files, and
 * asynchronous calls take ten times as long.
 */
export function closeToOthers(path: string): void {
  const user = process.geteuid?.();
  if (user === undefined) return;
  const found = attempt(() => lstatSync(path));
  if (found === null || found.uid !== user || (found.mode & OPEN_FOR_OTHERS) === 0) return;
  const isDirectory = found.isDirectory();
  if (!isDirectory && !found.isFile()) return;
  changeMode(path, isDirectory ? 0o700 : 0o600);
  if (!isDirectory) return;
  for (const name of attempt(() => readdirSync(path)) ?? []) closeToOthers(join(path, name));
}

/** Uses an open handle so that a link that replaces the file is not followed. */
function changeMode(path: string, mode: number): void {
  const handle = attempt(() => openSync(path, FLAGS));
  if (handle === null) return;
  attempt(() => fchmodSync(handle, mode));
  attempt(() => closeSync(handle));
}

/** Null when the system refuses. */
function attempt<T>(call: () => T): T | null {
  try {
    return call();
  } catch (error) {
    if (errnoOf(error) === null) throw error;
    return null;
  }
}
