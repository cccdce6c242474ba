import { chmodSync, closeSync, lstatSync, openSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { storeForeign } from './sql-database.ts';

/** What SQLite keeps beside a database. */
const BESIDE = ['', '-wal', '-shm', '-journal'] as const;
const PRIVATE = 0o600;
const WRITABLE_FOR_OTHERS = 0o022;
const OPEN_FOR_OTHERS = 0o077;

/**
 * Makes an empty file that only its owner may read, unless there is one. A SQLite that makes the file itself gives
 * it the mode of the process, and to change that for a moment would change it for every other file made then.
 */
export function createPrivateFile(path: string): void {
  try {
    // Exclusively, so that no link is followed, be it one to nothing.
    closeSync(openSync(path, 'wx', PRIVATE));
  } catch {
    // It is there, or SQLite says better what is wrong.
  }
}

/** Whether there is anything to open, be it a link to nothing. */
export function databaseFileExists(path: string): boolean {
  return lstatOf(path) !== null;
}

/**
 * Whether something is in the file; false for none, or an empty one. Throws STORE_FOREIGN for what somebody else may
 * have put there: a link, something that is no file, or a file that another user owns or may write; `ignoreModes`
 * leaves the last one out.
 */
export function checkDatabaseFile(
  path: string,
  { ignoreModes = false }: { readonly ignoreModes?: boolean } = {},
): boolean {
  for (const ending of BESIDE) checkFile(`${path}${ending}`, ignoreModes);
  const found = lstatOf(path);
  return found !== null && found.size > 0;
}

/** Takes away what others may do with files of our own. */
export function makeDatabasePrivate(path: string): void {
  for (const ending of BESIDE) {
    const file = `${path}${ending}`;
    const found = lstatOf(file);
    if (found === null || !found.isFile() || (found.mode & OPEN_FOR_OTHERS) === 0) continue;
    try {
      chmodSync(file, PRIVATE);
    } catch {
      // A file system without modes, or it is gone.
    }
  }
}

function checkFile(file: string, ignoreModes: boolean): void {
  const found = lstatOf(file);
  // SQLite itself says what a folder is.
  if (found === null || found.isDirectory()) return;
  if (found.isSymbolicLink()) throw storeForeign(file, 'is a link');
  if (!found.isFile()) throw storeForeign(file, 'is no regular file');
  const user = process.geteuid?.();
  if (user === undefined) return;
  if (found.uid !== user) throw storeForeign(file, 'belongs to another user');
  if (!ignoreModes && (found.mode & WRITABLE_FOR_OTHERS) !== 0) {
    throw storeForeign(file, 'can be written by other users', { adoptable: true });
  }
}

function lstatOf(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch {
    return null;
  }
}
