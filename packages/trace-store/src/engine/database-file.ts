import { closeSync, existsSync, openSync } from 'node:fs';

/**
 * Makes an empty file that only its owner may read, unless there is one. A SQLite that makes the file itself gives
 * it the mode of the process, and to change that for a moment would change it for every other file made then.
 */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch {
    // It is there, or SQLite says better what is wrong.
  }
}

/** Whether there is anything to open; what cannot be told is left to SQLite. */
export function databaseFileExists(path: string): boolean {
  return existsSync(path);
}
