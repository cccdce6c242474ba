import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { protectionOf } from './protected-paths.ts';

/** Entries examined, and paths listed: a hostile tree must not delay every command. */
const MAX_ENTRIES = 50_000;
const MAX_PATHS = 1_000;
/** Packages of others: nothing in there is obeyed by the user's own programs. */
const SKIPPED: ReadonlySet<string> = new Set(['node_modules']);

/**
 * The protected files and folders that exist below the root, the topmost of each branch, breadth first, as absolute
 * paths. Links are not followed. `truncated` when there are too many entries to look at.
 */
export async function listProtected(
  root: string,
  isAllowed: (path: string) => boolean,
): Promise<{ readonly paths: readonly string[]; readonly truncated: boolean }> {
  const paths: string[] = [];
  const folders: (readonly string[])[] = [[]];
  let seen = 0;
  // The list grows while it is walked.
  for (const folder of folders) {
    for (const entry of await entriesOf(join(root, ...folder))) {
      seen += 1;
      if (seen > MAX_ENTRIES || paths.length === MAX_PATHS) return { paths, truncated: true };
      const components = [...folder, entry.name];
      const { kind } = protectionOf(components);
      if (kind === 'never' || (kind === 'ask' && !isAllowed(components.join('/')))) {
        paths.push(join(root, ...components));
      } else if (entry.isDirectory() && !SKIPPED.has(entry.name)) {
        folders.push(components);
      }
    }
  }
  return { paths, truncated: false };
}

/** None where the folder cannot be read: what a command cannot see it cannot change either. */
async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch(() => []);
}
