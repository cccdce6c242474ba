import { closeSync, constants, fchmodSync, lstatSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from './disk-error.ts';

const OPEN_FOR_OTHERS = 0o077;
const FLAGS: number = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Takes away what others may do with a file or directory of this user's, and with everything below it; a directory
 * that is closed already is not looked into, since nobody else can. No link is followed, nothing of another user's is
 * touched, and what cannot be changed (a file system without modes) stays as it is.
 *
 * Nothing is awaited: this happens once to a tree, at a start, and a repository may bring 50,000 files, for which
 * calls that are awaited take ten times as long.
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

/** Through an open handle, so that a link that takes the place meanwhile is not followed. */
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
