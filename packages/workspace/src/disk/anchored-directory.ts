/**
 * A directory handle that keeps pointing to the same directory while names in it are used.
 *
 * D1. On Linux, every name is reached through the descriptor of its directory (`/proc/self/fd/<n>`), which is opened
 *     name by name without following links. Swapping a directory for a link does not change where bytes go.
 * D2. On other systems, names are reached by path.
 * D3. `stillThere` checks that the path leads, without a link, to the opened directory. The directory may have been
 *     moved, even out of the workspace, and replaced by another.
 */
import { constants } from 'node:fs';
import { lstat, mkdir, open, realpath } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isErrno, systemError } from './disk-error.ts';
import { syncDirectory, syncHandle } from './directories.ts';

export type AnchoredDirectory = {
  /** A path for this name in the directory. Valid while the anchor is open. */
  pathOf(name: string): string;
  stillThere(): Promise<boolean>;
  sync(): Promise<void>;
  close(): Promise<void>;
};

const DIRECTORY_FLAGS: number =
  constants.O_RDONLY | constants.O_DIRECTORY | (constants.O_NOFOLLOW ?? 0);

/**
 * Opens `names` below `root` and durably creates missing directories. `root` must be resolved. Fails with ELOOP or
 * ENOTDIR when a name is no longer a directory.
 */
export async function openAnchored(
  root: string,
  names: readonly string[],
): Promise<AnchoredDirectory> {
  return (await hasDescriptorPaths()) ? openByDescriptor(root, names) : openByPath(root, names);
}

let descriptorPaths: Promise<boolean> | null = null;

/** Whether an open file can be named through its descriptor. */
export function hasDescriptorPaths(): Promise<boolean> {
  descriptorPaths ??= lstat('/proc/self/fd').then(
    (found) => process.platform === 'linux' && found.isDirectory(),
    () => false,
  );
  return descriptorPaths;
}

async function openByDescriptor(
  root: string,
  names: readonly string[],
): Promise<AnchoredDirectory> {
  let handle = await open(root, DIRECTORY_FLAGS);
  for (const name of names) {
    try {
      const child = await openOrMake(handle, name);
      const parent = handle;
      handle = child;
      await parent.close();
    } catch (error) {
      await handle.close();
      throw error;
    }
  }
  return {
    pathOf: (name) => childPath(handle, name),
    stillThere: () => leadsTo(join(root, ...names), handle),
    sync: () => syncHandle(handle),
    close: () => handle.close(),
  };
}

async function leadsTo(path: string, handle: FileHandle): Promise<boolean> {
  try {
    if ((await realpath(path)) !== path) return false;
    const options = { bigint: true } as const;
    const [found, opened] = await Promise.all([lstat(path, options), handle.stat(options)]);
    return found.dev === opened.dev && found.ino === opened.ino;
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return false;
    throw error;
  }
}

function childPath(directory: FileHandle, name: string): string {
  return `/proc/self/fd/${directory.fd}/${name}`;
}

async function openOrMake(parent: FileHandle, name: string): Promise<FileHandle> {
  const path = childPath(parent, name);
  try {
    return await open(path, DIRECTORY_FLAGS);
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
  }
  await mkdir(path).catch((error: unknown) => {
    if (!isErrno(error, 'EEXIST')) throw error;
  });
  await syncHandle(parent);
  return await open(path, DIRECTORY_FLAGS);
}

async function openByPath(root: string, names: readonly string[]): Promise<AnchoredDirectory> {
  let path = root;
  for (const name of names) {
    path = join(path, name);
    try {
      await mkdir(path);
      await syncDirectory(dirname(path));
    } catch (error) {
      if (!isErrno(error, 'EEXIST')) throw error;
    }
  }
  const stillThere = async (): Promise<boolean> =>
    realpath(path).then(
      (found) => found === path,
      () => false,
    );
  if (!(await stillThere())) {
    throw systemError('ELOOP', `${path} leads elsewhere`);
  }
  return {
    pathOf: (name) => join(path, name),
    stillThere,
    sync: () => syncDirectory(path),
    close: async () => undefined,
  };
}
