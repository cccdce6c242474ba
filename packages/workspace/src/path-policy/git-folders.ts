/**
 * Finds git's own folders under other names: a bare repository, or the folder that a `.git` file points to. Writing
 * their `config` decides what git runs.
 *
 * Checks only the folders above the target, and counts what the write itself would add, so that a folder cannot become
 * a repository step by step without confirmation.
 */
import { lstat, realpath } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { readSmallFile } from '../disk/files.ts';
import { foldName } from './protected-paths.ts';
import { isInside } from './resolve-path.ts';

const MAX_LINK_BYTES = 16 * 1024;

/** The git folder that contains a path inside the root, or null. Both paths are resolved. */
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

/** `below`: the path of the target from there, as names. */
async function isGitFolder(folder: string, below: readonly string[]): Promise<boolean> {
  const added = foldName(below[0] ?? '');
  const has = async (name: string): Promise<boolean> =>
    added === name.toLowerCase() || (await exists(join(folder, name)));
  // The HEAD of another folder may use this one as its common directory, and then its configuration is read.
  const isHeaded = added === 'config' || added === 'hooks' || (await has('HEAD'));
  if (!isHeaded) return false;
  if ((await has('objects')) && (await has('refs'))) return true;
  return (await has('HEAD')) && (await has('commondir'));
}

/** Where the `.git` of a folder points if it is a file or link. */
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
