import { relative, sep } from 'node:path';
import type { FileList, FileSelection } from '@orion/contracts';
import { requireExisting } from '../path-policy/path-policy.ts';
import type { PathPolicy } from '../path-policy/path-policy.ts';
import { fileFilter } from './file-filter.ts';
import { FileWalk } from './walk-files.ts';

export type SelectedFiles = {
  readonly walk: FileWalk;
  /** In batches, sorted, relative to the root. */
  readonly batches: AsyncIterable<readonly string[]>;
};

/** The files of a folder, or the one file that is named instead. Throws like `PathPolicy.containReadable`. */
export async function selectFiles(
  policy: PathPolicy,
  { below = '', globs = [], recursive = true }: FileSelection,
): Promise<SelectedFiles> {
  const isWanted = fileFilter(globs);
  const walk = new FileWalk(policy);
  const named = below.replace(/\/+$/u, '');
  if ((named === '' && !below.startsWith('/')) || named === '.') {
    return { walk, batches: filtered(walk.files([], recursive), isWanted) };
  }
  const found = await policy.containReadable(named === '' ? below : named);
  requireExisting(found);
  const names = relative(policy.root, found.realPath).split(sep).filter(Boolean);
  const path = names.join('/');
  if (found.stat?.isDirectory() === true) {
    const prefix = names.length === 0 ? '' : `${path}/`;
    const isWantedBelow = (file: string): boolean => isWanted(file.slice(prefix.length));
    return { walk, batches: filtered(walk.files(names, recursive), isWantedBelow) };
  }
  return {
    walk,
    batches: filtered(onlyOne(path), (file) => isWanted(file.split('/').at(-1) ?? '')),
  };
}

async function* onlyOne(path: string): AsyncGenerator<readonly string[], void, undefined> {
  yield [path];
}

async function* filtered(
  batches: AsyncIterable<readonly string[]>,
  isWanted: (path: string) => boolean,
): AsyncGenerator<readonly string[], void, undefined> {
  for await (const batch of batches) {
    const wanted = batch.filter((path) => isWanted(path));
    if (wanted.length > 0) yield wanted;
  }
}

export async function listFiles(
  policy: PathPolicy,
  limit: number,
  selection: FileSelection = {},
): Promise<FileList> {
  const { walk, batches } = await selectFiles(policy, selection);
  const files: string[] = [];
  let isCut = false;
  for await (const batch of batches) {
    const room = limit - files.length;
    files.push(...batch.slice(0, room));
    isCut ||= batch.length > room;
  }
  return { files, truncated: isCut || walk.truncated, refused: walk.refused };
}
