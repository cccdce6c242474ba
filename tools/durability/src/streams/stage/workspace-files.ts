import { readdir, readFile, utimes } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';

const SESSIONS = ['.orion', 'logs', 'write_sessions'];

/** The write sessions of a workspace; a directory that is being made or removed has a dot before its name. */
export async function sessionIds(workspace: string): Promise<readonly string[]> {
  const names = await readdir(join(workspace, ...SESSIONS)).catch(() => []);
  return names.filter((name) => !name.startsWith('.'));
}

export function sessionDirectory(workspace: string, id: string): string {
  return join(workspace, ...SESSIONS, id);
}

export async function readIfThere(path: string): Promise<Buffer | undefined> {
  return await readFile(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  });
}

/** Files that may stay after a session has ended; folders are separated by `/`. */
const KEPT = [
  /^\.orion\/\.gitignore$/,
  /^\.orion\/[a-z-]*key[a-z.-]*$/,
  /^\.orion\/backups\/\d{8}T/,
  // The next session on the same target takes the lock of a dead process over.
  /^\.orion\/locks\/[0-9a-f]{64}$/,
  // Conversations, traces and the turn log; the files beside it go with the last process that closes it.
  /^\.orion\/orion\.db(?:-wal|-shm)?$/,
  // Text that never was content, put aside instead of thrown away.
  /^\.orion\/attic\/[0-9a-f-]{36}\/(?:pending|trailing)(?:\.\d+)?\.txt$/,
];

/** Files that have no owner any more: all but the target and what Orion keeps. */
export async function leftovers(workspace: string, target: string): Promise<readonly string[]> {
  const entries = await readdir(workspace, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(workspace, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
    .filter((path) => path !== target && !KEPT.some((kept) => kept.test(path)));
}

/** Lets an hour pass for what was left, so that its maker does not look alive. */
export async function ageLeftovers(workspace: string, paths: readonly string[]): Promise<void> {
  const hourAgo = Date.now() / 1000 - 3600;
  for (const path of paths) {
    const file = join(workspace, path);
    await utimes(file, hourAgo, hourAgo);
    // A directory that was being made is judged by its own time.
    if (basename(dirname(file)).startsWith('.')) await utimes(dirname(file), hourAgo, hourAgo);
  }
}
