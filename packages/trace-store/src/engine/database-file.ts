import { chmodSync, closeSync, lstatSync, openSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { storeForeign } from './sql-database.ts';

/** The files that SQLite keeps beside a database. */
const BESIDE = ['', '-wal', '-shm', '-journal'] as const;
const PRIVATE = 0o600;
const WRITABLE_FOR_OTHERS = 0o022;
const OPEN_FOR_OTHERS = 0o077;

/**
 * Creates an empty file that only its owner may read, unless the file exists. SQLite itself would create it with the
 * umask of the process, and changing the umask would affect every other file created meanwhile.
 */
export function createPrivateFile(path: string): void {
  try {
    // Exclusively, so that no link is followed, not even a dangling one.
    closeSync(openSync(path, 'wx', PRIVATE));
  } catch {
    // It exists, or SQLite will report the problem better.
  }
}

/** Whether anything is at that path, even a dangling link. */
export function databaseFileExists(path: string): boolean {
  return lstatOf(path) !== null;
}

/**
 * Whether the file has any content; false if it is empty or missing. Throws STORE_FOREIGN if somebody else may have put
 * it there: a link, something other than a regular file, or a file that another user owns or may write. `ignoreModes`
 * skips the check of who may write.
 */
export function checkDatabaseFile(
  path: string,
  { ignoreModes = false }: { readonly ignoreModes?: boolean } = {},
): boolean {
  for (const ending of BESIDE) checkFile(`${path}${ending}`, ignoreModes);
  const found = lstatOf(path);
  return found !== null && found.size > 0;
}

/** Removes the permissions of others on our own files. */
export function makeDatabasePrivate(path: string): void {
  for (const ending of BESIDE) {
    const file = `${path}${ending}`;
    const found = lstatOf(file);
    if (found === null || !found.isFile() || (found.mode & OPEN_FOR_OTHERS) === 0) continue;
    try {
      chmodSync(file, PRIVATE);
    } catch {
      // The file system has no modes, or the file is gone.
    }
  }
}

function checkFile(file: string, ignoreModes: boolean): void {
  const found = lstatOf(file);
  // SQLite reports a folder itself.
  if (found === null || found.isDirectory()) return;
  if (found.isSymbolicLink()) throw storeForeign(file, 'is a link');
  if (!found.isFile()) throw storeForeign(file, 'is not a regular file');
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
