import type { Stats } from 'node:fs';
import { isUtf8 } from 'node:buffer';
import { lstat, readlink } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { errnoOf, isErrno } from '../disk/disk-error.ts';

/** As many links as Linux follows. */
const MAX_LINKS = 40;

/** The real location of a path whose last names may not exist yet. */
export type ResolvedPath =
  | { readonly kind: 'found'; readonly realPath: string; readonly stat: Stats }
  /** `parent` is an existing directory; `missing` are the names below it. */
  | {
      readonly kind: 'missing';
      readonly realPath: string;
      readonly parent: string;
      readonly missing: readonly string[];
    }
  | { readonly kind: 'loop' }
  /** A link leads to a name that is not UTF-8: as text it would be another one. */
  | { readonly kind: 'unnamable'; readonly at: string }
  /** A component is neither a directory nor a link. */
  | { readonly kind: 'blocked'; readonly at: string }
  | { readonly kind: 'refused'; readonly at: string; readonly error: unknown };

/** Whether `path` is `directory` or below it, by whole names. Both must be resolved. */
export function isInside(directory: string, path: string): boolean {
  if (path === directory) return true;
  return path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

/**
 * Resolves every component from `start`, a resolved directory. Unlike `realpath`, it continues where nothing exists, so
 * that a new file under a link is judged by its real location.
 */
export async function resolvePath(
  start: string,
  components: readonly string[],
): Promise<ResolvedPath> {
  const open = [...components];
  let current = start;
  let stat: Stats | null = null;
  let links = 0;
  for (;;) {
    const name = open.shift();
    if (name === undefined) break;
    if (name === '' || name === '.') continue;
    if (name === '..') {
      current = dirname(current);
      stat = null;
      continue;
    }
    const path = join(current, name);
    try {
      stat = await lstat(path);
    } catch (error) {
      if (isErrno(error, 'ENOTDIR')) return { kind: 'blocked', at: current };
      if (!isErrno(error, 'ENOENT')) return { kind: 'refused', at: path, error };
      return missingBelow(current, [name, ...open]);
    }
    if (!stat.isSymbolicLink()) {
      current = path;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) return { kind: 'loop' };
    let target: Buffer;
    try {
      target = await readlink(path, { encoding: 'buffer' });
    } catch (error) {
      return { kind: 'refused', at: path, error };
    }
    if (!isUtf8(target)) return { kind: 'unnamable', at: path };
    const names = target.toString().split('/');
    if (names[0] === '') current = '/';
    open.unshift(...names);
    stat = null;
  }
  try {
    return { kind: 'found', realPath: current, stat: stat ?? (await lstat(current)) };
  } catch (error) {
    if (errnoOf(error) === null) throw error;
    return { kind: 'refused', at: current, error };
  }
}

/** Below a missing name, a parent step has no target. */
function missingBelow(parent: string, names: readonly string[]): ResolvedPath {
  const missing = names.filter((name) => name !== '' && name !== '.');
  if (missing.includes('..')) return { kind: 'blocked', at: join(parent, missing[0] ?? '') };
  return { kind: 'missing', realPath: join(parent, ...missing), parent, missing };
}
