/** Copies the properties of the old file to the new one. */
import { spawn } from 'node:child_process';
import type { Stats } from 'node:fs';
import { access } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { isErrno } from '../disk/disk-error.ts';
import { setMode } from '../disk/set-mode.ts';
import type { Site } from './commit-site.ts';

export type KeptProperties = { readonly mode: number; readonly notKept: readonly string[] };

/**
 * Copies the owner first, because changing it removes set-id bits and capabilities; then attributes and access lists;
 * then the mode, which these may have changed. A mode that the file does not keep is not its mode for a moment either:
 * the rights of a group must not become those of another one. `newMode`: of a file that is new.
 */
export async function keepProperties(
  { old, request }: Site,
  handle: FileHandle,
  newMode: number,
): Promise<KeptProperties> {
  if (old === null) {
    const mode = await setMode(handle, newMode);
    const isOther = request.mode !== undefined && mode !== request.mode;
    return { mode, notKept: isOther ? ['mode'] : [] };
  }
  const stat = await old.stat();
  const notKept: string[] = [];
  const owner = await keepOwner(handle, stat);
  if (owner !== 'kept') notKept.push('owner');
  const wanted = modeUnder(owner, stat.mode & 0o7777);
  notKept.push(...(await copyAttributes(old, handle, wanted === (stat.mode & 0o7777))));
  const mode = await setMode(handle, wanted, OTHERS);
  if (mode !== (stat.mode & 0o7777)) notKept.push('mode');
  if (stat.nlink > 1) notKept.push('hard_link');
  return { mode, notKept };
}

type KeptOwner = 'kept' | 'group' | 'none';

/** A user may not give a file to another one, but to each group of their own. */
async function keepOwner(handle: FileHandle, { uid, gid }: Stats): Promise<KeptOwner> {
  const fresh = await handle.stat();
  if (fresh.uid === uid && fresh.gid === gid) return 'kept';
  if (await changeOwner(handle, uid, gid)) return 'kept';
  if (fresh.gid === gid) return 'group';
  return fresh.uid !== uid && (await changeOwner(handle, fresh.uid, gid)) ? 'group' : 'none';
}

async function changeOwner(handle: FileHandle, uid: number, gid: number): Promise<boolean> {
  try {
    await handle.chown(uid, gid);
    return true;
  } catch (error) {
    if (!isErrno(error, 'EPERM', 'EACCES', 'EINVAL', 'ENOSYS', 'ENOTSUP')) throw error;
    return false;
  }
}

/** Under another owner, the set-id bits would grant other rights. Another group gets no more than everybody has. */
function modeUnder(owner: KeptOwner, mode: number): number {
  if (owner === 'kept') return mode;
  const plain = mode & 0o1777;
  return owner === 'group' ? plain : plain & (0o1707 | ((plain & 0o007) << 3));
}

/** Reading and writing by group and others. */
const OTHERS = 0o066;

/** Absolute paths, so that PATH has no influence on what runs. */
const COPY_PROGRAMS: readonly string[] = [
  '/usr/bin/cp',
  '/bin/cp',
  '/run/current-system/sw/bin/cp',
];

/** If this file exists, files have a security context. `cp` copies it only on request, and fails elsewhere if asked. */
const SELINUX = '/sys/fs/selinux/enforce';

/**
 * Node cannot copy extended attributes and access lists; GNU `cp` can. Returns those that may be lost. Properties are
 * listed one by one, because `cp` reports a listed property that it cannot keep but is silent with `all`. It takes
 * access lists for a part of the mode. Timestamps are excluded: a changed file is a newer one.
 */
async function copyAttributes(
  from: FileHandle,
  to: FileHandle,
  withMode: boolean,
): Promise<readonly string[]> {
  if (process.platform !== 'linux') return ['xattrs', 'acls'];
  for (const program of COPY_PROGRAMS) {
    if (!(await isThere(program))) continue;
    const xattrs = (await isThere(SELINUX)) ? 'xattr,context' : 'xattr';
    if (withMode && (await runCopy(program, `mode,${xattrs}`, from, to))) return [];
    return (await runCopy(program, xattrs, from, to)) ? ['acls'] : ['xattrs', 'acls'];
  }
  return ['xattrs', 'acls'];
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Passes the files as descriptors 3 and 4, so no name is resolved again. */
async function runCopy(
  program: string,
  properties: string,
  from: FileHandle,
  to: FileHandle,
): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(
      program,
      ['--attributes-only', `--preserve=${properties}`, '/proc/self/fd/3', '/proc/self/fd/4'],
      { cwd: '/', env: { LC_ALL: 'C' }, stdio: ['ignore', 'ignore', 'ignore', from.fd, to.fd] },
    );
    child.once('error', () => resolve(false));
    child.once('close', (code) => resolve(code === 0));
  });
}
