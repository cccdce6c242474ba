/** Where a commit takes place: the target as the path policy sees it now, its open directory, and the existing file. */
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, relative, sep } from 'node:path';
import { OrionError } from '@orion/contracts';
import type { PrepareRequest, WritingRecord } from '@orion/contracts';
import { openAnchored } from '../disk/anchored-directory.ts';
import type { AnchoredDirectory } from '../disk/anchored-directory.ts';
import { errnoOf, isErrno, onDisk, toDiskError } from '../disk/disk-error.ts';
import { closeRead, openRegularFile } from '../disk/files.ts';
import type { LockTarget } from '../ownership/target-locks.ts';
import { shown } from '../path-policy/parse-target.ts';
import type { ContainedPath, PathPolicy } from '../path-policy/path-policy.ts';
import type { BackupStore } from './backup-store.ts';
import { fileExists, targetChanged } from './commit-errors.ts';
import { hashPath } from './hash-file.ts';
import type { TemporaryNotes } from './temporary-notes.ts';

/** What all commits of a workspace use. */
export type Committer = {
  readonly root: string;
  readonly policy: PathPolicy;
  readonly backups: BackupStore;
  readonly notes: TemporaryNotes;
  readonly lockTarget: LockTarget;
};

/** The request of a commit, with fields that only an undo or a plan uses. */
export type ChangeRequest = PrepareRequest & {
  /** The target is removed. There are no parts then. */
  readonly removes?: true;
  /** The mode of a new file; by default what the umask leaves. */
  readonly mode?: number;
  /** The path whose lock is held meanwhile, with links resolved; by default that of the target. */
  readonly locked?: string;
  /** The backups that are restored. */
  readonly undoes?: readonly string[];
};

export type Site = {
  readonly request: ChangeRequest;
  readonly target: ContainedPath;
  /** The name of the resolved file in `directory`. */
  readonly name: string;
  readonly directory: AnchoredDirectory;
  /** The file to be replaced. Closed when the commit is prepared. */
  readonly old: FileHandle | null;
};

/** Rejects if the target is not as expected, as far as this can be seen without reading it. */
export async function openSite(committer: Committer, request: ChangeRequest): Promise<Site> {
  const target = await findTarget(committer, request);
  const names = relative(committer.root, dirname(target.realPath)).split(sep);
  const directory = await openParent(committer.root, names, target);
  let old: FileHandle | null = null;
  try {
    const name = basename(target.realPath);
    const { expected } = request;
    if (expected.exists) {
      old = await onDisk(`read ${shown(target.path)}`, () =>
        openRegularFile(directory.pathOf(name)),
      );
      if (old === null) throw targetChanged(target.path);
      const stat = await onDisk(`read ${shown(target.path)}`, async () => old?.stat());
      if (stat?.size !== expected.bytes) throw targetChanged(target.path);
    }
    return { request, target, name, directory, old };
  } catch (error) {
    if (old !== null) await closeRead(old);
    await directory.close().catch(() => undefined);
    throw error;
  }
}

async function findTarget(committer: Committer, request: ChangeRequest): Promise<ContainedPath> {
  const { expected, operation } = request;
  // Its existence is checked below, against the expectation and with specific error codes.
  const asked = operation === 'create' || expected.exists ? 'overwrite' : operation;
  const target = await committer.policy.containTarget(request.target, asked);
  if (target.realPath !== expected.realPath) throw targetChanged(target.path);
  if (target.stat !== null && operation === 'create') throw fileExists(target.path);
  if ((target.stat !== null) !== expected.exists) throw targetChanged(target.path);
  return target;
}

async function openParent(
  root: string,
  names: readonly string[],
  target: ContainedPath,
): Promise<AnchoredDirectory> {
  try {
    return await openAnchored(
      root,
      names.filter((name) => name !== ''),
    );
  } catch (error) {
    if (isErrno(error, 'ENOTDIR', 'ELOOP', 'EEXIST', 'ENOENT')) {
      throw new OrionError({
        code: 'DIR_CREATE_FAILED',
        message: `The directory of ${shown(target.path)} could not be made (${errnoOf(error)}).`,
        cause: error,
      });
    }
    throw toDiskError(error, `make the directory of ${shown(target.path)}`);
  }
}

/** The last check before the change. Compares hashes, because size and time can be equal for different bytes. */
export async function requireUnchanged(site: Site): Promise<void> {
  const { request, target, directory, name } = site;
  const found = await onDisk(`read ${shown(target.path)}`, async () => {
    const hashed = await hashPath(directory.pathOf(name), request.expected.bytes);
    // Checked last, because hashing a long file takes time.
    if (!(await directory.stillThere())) throw targetChanged(target.path);
    return hashed;
  });
  if ((found?.sha256 ?? null) === request.expected.sha256) return;
  throw request.expected.exists ? targetChanged(target.path) : appeared(site);
}

export function appeared(site: Site, cause?: unknown): OrionError {
  const { request, target } = site;
  return request.operation === 'create'
    ? fileExists(target.path, cause)
    : targetChanged(target.path);
}

/** The path, as stored in records, of a file beside the target. */
export function besideTarget(
  committer: Committer,
  site: Site,
  name: string,
): WritingRecord['temp'] {
  const directory = relative(committer.root, dirname(site.target.realPath));
  return [...directory.split(sep), name].filter((part) => part !== '').join('/');
}
