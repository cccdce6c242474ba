import type { Dirent } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';

import type { ProtectedEntry, ProtectedPaths } from '@orion/contracts';

import { protectionOf } from './protected-paths.ts';

/** Entries examined, and paths listed: a hostile tree must not delay every command. */
const MAX_ENTRIES = 50_000;
const MAX_PATHS = 1_000;
/** Packages of others: nothing in there is obeyed by the user's own programs. */
const SKIPPED: ReadonlySet<string> = new Set(['node_modules']);

/** What git obeys in a folder that it takes for a repository. */
const OBEYED_BY_GIT: ReadonlySet<string> = new Set(['head', 'config', 'hooks', 'commondir']);

/**
 * The protected files and folders that exist below the root, the topmost of each branch, breadth first. Links are not
 * followed.
 */
export async function listProtected(
  root: string,
  isAllowed: (path: string) => boolean,
): Promise<ProtectedPaths> {
  const entries: ProtectedEntry[] = [];
  const searched = new Set<string>();
  const folders: (readonly string[])[] = [[]];
  let truncated = false;
  let seen = 0;
  // The list grows while it is walked.
  for (const folder of folders) {
    const found = await entriesOf(join(root, ...folder));
    if (found === null) {
      truncated = true;
      continue;
    }
    const isRepository = looksLikeRepository(found);
    for (const entry of found) {
      seen += 1;
      if (seen > MAX_ENTRIES || entries.length === MAX_PATHS) {
        return { entries, folders: searched, truncated: true };
      }
      const components = [...folder, entry.name];
      const path = components.join('/');
      const { kind } = protectionOf(components);
      const asks = kind === 'ask' || (isRepository && OBEYED_BY_GIT.has(entry.name.toLowerCase()));
      if (asks || kind === 'never') {
        const isFree = kind !== 'never' && (isAllowed(path) || allInIt(path).every(isAllowed));
        const described = isFree ? null : await describe(root, path);
        if (described !== null) entries.push(described);
      } else if (entry.isDirectory() && !SKIPPED.has(entry.name)) {
        folders.push(components);
      }
    }
    searched.add(folder.join('/'));
  }
  return { entries, folders: searched, truncated };
}

/** Only a glob for whatever may be in a folder matches all of these. */
function allInIt(folder: string): readonly string[] {
  return [1, 2, 9].map((depth) => folder + '/any name'.repeat(depth));
}

/** Null where the folder cannot be read. One that has just gone is empty. */
async function entriesOf(folder: string): Promise<readonly Dirent[] | null> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? [] : null;
  }
}

/** Whether git takes this folder for a bare repository, or for one to which a `.git` file leads. */
function looksLikeRepository(found: readonly Dirent[]): boolean {
  const has = (name: string): boolean => found.some((entry) => entry.name.toLowerCase() === name);
  return has('head') && ((has('objects') && has('refs')) || has('commondir'));
}

/** Null for what has just gone. */
async function describe(root: string, path: string): Promise<ProtectedEntry | null> {
  const absolute = join(root, path);
  try {
    const found = await lstat(absolute, { bigint: true });
    const link = found.isSymbolicLink() ? await readlink(absolute) : null;
    const content = found.isDirectory() ? '' : ` ${found.size} ${found.mtimeNs}`;
    return { path, identity: `${found.dev} ${found.ino}${content}`, link };
  } catch {
    return null;
  }
}
