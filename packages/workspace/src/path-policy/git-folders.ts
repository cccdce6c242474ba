/**
 * Git's own folders under other names: a bare repository, or the folder to which a `.git` file leads. Whoever writes
 * their `config` decides what git runs.
 *
 * Only the folders above the target are looked at, and what the write itself would add counts as there: a folder does
 * not become a repository piece by piece without a question.
 */
import { lstat, realpath } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { readSmallFile } from '../disk/files.ts';
import { foldName } from './protected-paths.ts';
import { isInside } from './resolve-path.ts';

const MAX_LINK_BYTES = 16 * 1024;

/** The folder of git's that a path inside the root leads into; null when there is none. Both are resolved. */
export async function gitFolderAbove(root: string, realPath: string): Promise<string | null> {
  for (let folder = dirname(realPath); isInside(root, folder); folder = dirname(folder)) {
    if (await isGitFolder(folder, relative(folder, realPath).split(sep))) return folder;
    const led = await ledToBy(folder);
    const found = led.find((each) => isInside(each, realPath));
    if (found !== undefined) return found;
    if (folder === root) break;
  }
  return null;
}

/** `below`: the names of the target from there. */
async function isGitFolder(folder: string, below: readonly string[]): Promise<boolean> {
  const added = foldName(below[0] ?? '');
  const has = async (name: string): Promise<boolean> =>
    added === name.toLowerCase() || (await exists(join(folder, name)));
  // Another folder's HEAD may name this one as what they have in common, and then its configuration is read.
  const isHeaded = added === 'config' || added === 'hooks' || (await has('HEAD'));
  if (!isHeaded) return false;
  if ((await has('objects')) && (await has('refs'))) return true;
  return (await has('HEAD')) && (await has('commondir'));
}

/** Where the `.git` of a folder leads, if it is a file or a link. */
async function ledToBy(folder: string): Promise<readonly string[]> {
  const path = join(folder, '.git');
  const found = await lstat(path).catch(() => null);
  const gitFolder =
    found?.isSymbolicLink() === true
      ? await realpath(path).catch(() => null)
      : await linkedFolder(path, folder, 'gitdir:');
  if (gitFolder === null) return [];
  const common = await linkedFolder(join(gitFolder, 'commondir'), gitFolder, '');
  return common === null ? [gitFolder] : [gitFolder, common];
}

async function linkedFolder(file: string, base: string, prefix: string): Promise<string | null> {
  const read = await readSmallFile(file, MAX_LINK_BYTES);
  if (read.kind !== 'text' || !read.text.startsWith(prefix)) return null;
  const path = resolve(base, read.text.slice(prefix.length).trim());
  return realpath(path).catch(() => path);
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
