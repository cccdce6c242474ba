/**
 * Changes one file, or nothing.
 *
 * C1. The new bytes are complete and durable under a temporary name in the target's directory before
 *     the target changes; the target itself is never written to (except C5).
 * C2. The previous bytes are durable in the backups before the target changes.
 * C3. `journal` has resolved before the target changes.
 * C4. What stands at the target is hashed right before the change; anything unexpected stops it.
 *     Between that hash and the rename a window remains.
 * C5. A new file appears by `link`, so that a file that appeared meanwhile is never replaced. Where
 *     the file system has no links the target is created exclusively, which a warning says.
 * C6. Whatever fails leaves target and backups as they were and no temporary file.
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { link, open, rename, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { OrionError } from '@orion/contracts';
import type { CommitRequest, CommitResult, WritingRecord } from '@orion/contracts';
import { openAnchored } from '../disk/anchored-directory.ts';
import type { AnchoredDirectory } from '../disk/anchored-directory.ts';
import { errnoOf, isErrno, onDisk, toDiskError } from '../disk/disk-error.ts';
import { openRegularFile, readRange, removeIfThere } from '../disk/files.ts';
import { writeAll } from '../disk/write-all.ts';
import { shown } from '../path-policy/parse-target.ts';
import type { ContainedPath, PathPolicy } from '../path-policy/path-policy.ts';
import { octal } from './backup-store.ts';
import type { BackupStore } from './backup-store.ts';
import { hashPath } from './hash-file.ts';
import { newTemporaryName } from './temporary-notes.ts';
import type { TemporaryNotes } from './temporary-notes.ts';
import { TextTally } from './text-tally.ts';

export type Committer = {
  readonly root: string;
  readonly policy: PathPolicy;
  readonly backups: BackupStore;
  readonly notes: TemporaryNotes;
  readonly allowHardLink: boolean;
};

/** What a commit works with once its place is known. */
type Site = {
  readonly request: CommitRequest;
  readonly target: ContainedPath;
  readonly name: string;
  readonly directory: AnchoredDirectory;
};

type WrittenTemporary = {
  readonly sha256: string;
  readonly source: TextTally;
  readonly whole: TextTally;
  readonly mode: number;
  readonly notKept: readonly string[];
};

/** Errors of `link` that say that the file system has no links, not that something is wrong. */
const LINK_UNSUPPORTED = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV', 'EACCES'];

export async function commitFile(
  committer: Committer,
  request: CommitRequest,
): Promise<CommitResult> {
  const target = await findTarget(committer, request);
  const names = relative(committer.root, dirname(target.realPath)).split(sep);
  const directory = await openParent(committer.root, names, target);
  try {
    const site: Site = { request, target, name: basename(target.realPath), directory };
    return await commitAt(committer, site);
  } finally {
    await directory.close();
  }
}

async function findTarget(committer: Committer, request: CommitRequest): Promise<ContainedPath> {
  const { expected, operation } = request;
  // Whether it exists is judged here, against what was expected, with its own error codes.
  const asked = operation === 'append' && !expected.exists ? operation : 'overwrite';
  const target = await committer.policy.containTarget(request.target, asked);
  if (target.realPath !== expected.realPath) throw targetChanged(target.path);
  if (target.stat !== null && operation === 'create') throw fileExists(target.path);
  if ((target.stat !== null) !== expected.exists) throw targetChanged(target.path);
  if (target.stat !== null && target.stat.size !== expected.bytes) throw targetChanged(target.path);
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

async function commitAt(committer: Committer, site: Site): Promise<CommitResult> {
  const { request, target, directory } = site;
  const temporaryName = newTemporaryName();
  const temporary = directory.pathOf(temporaryName);
  const temporaryPath = join(dirname(target.realPath), temporaryName);
  const note = await committer.notes.note(temporaryPath);
  let backupId: string | null = null;
  let changed = false;
  try {
    const written = await writeTemporary(site, temporary);
    backupId = await keepPrevious(committer, site, written.sha256);
    const writing: WritingRecord = {
      temp: relative(committer.root, temporaryPath).split(sep).join('/'),
      target: target.path,
      before: request.expected.sha256,
      after: written.sha256,
      ...(backupId === null ? {} : { backup_id: backupId }),
    };
    await request.journal(writing);
    await requireUnchanged(site);
    const warnings: string[] = [];
    await onDisk(`write ${shown(target.path)}`, () => putInPlace(site, temporary, warnings));
    changed = true;
    await syncChange(site);
    if (request.operation === 'overwrite' && !request.expected.exists) {
      warnings.push('created_missing');
    }
    await committer.backups.pruneWhenFull().catch(() => undefined);
    return {
      path: target.path,
      bytes: written.source.bytes,
      lines: written.source.lines(),
      sha256: written.sha256,
      eol: written.whole.eol(),
      bom: written.whole.bom(),
      mode: octal(written.mode),
      ...(backupId === null ? {} : { backup_id: backupId }),
      warnings,
      not_kept: written.notKept,
    };
  } catch (error) {
    if (!changed) {
      await removeIfThere(temporary).catch(() => undefined);
      if (backupId !== null) await committer.backups.forget(backupId).catch(() => undefined);
    }
    throw error;
  } finally {
    await note.remove();
  }
}

async function writeTemporary(site: Site, temporary: string): Promise<WrittenTemporary> {
  const { request, target } = site;
  const action = `write ${shown(target.path)}`;
  const hash = createHash('sha256');
  const source = new TextTally();
  const whole = new TextTally();
  const handle = await onDisk(action, () => open(temporary, 'wx', 0o600));
  let open_ = true;
  try {
    const write = async (chunk: Uint8Array): Promise<void> => {
      await onDisk(action, () => writeAll(handle, chunk, whole.bytes));
      hash.update(chunk);
      whole.add(chunk);
    };
    if (request.operation === 'append') await copyPrevious(site, write);
    for await (const chunk of request.source()) {
      await write(chunk);
      source.add(chunk);
    }
    const kept = await onDisk(action, () => keepProperties(site, handle));
    await onDisk(action, () => handle.sync());
    open_ = false;
    await onDisk(action, () => handle.close());
    return { sha256: hash.digest('hex'), source, whole, ...kept };
  } catch (error) {
    if (open_) await handle.close().catch(() => undefined);
    throw error;
  }
}

/** The old bytes of an append; they must be those that were there when the work began. */
async function copyPrevious(
  site: Site,
  write: (chunk: Uint8Array) => Promise<void>,
): Promise<void> {
  const { request, target, directory, name } = site;
  const action = `read ${shown(target.path)}`;
  const old = await onDisk(action, () => openRegularFile(directory.pathOf(name)));
  if (old === null) throw targetChanged(target.path);
  try {
    const hash = createHash('sha256');
    for await (const chunk of readRange(old, 0)) {
      hash.update(chunk);
      await write(chunk);
    }
    if (hash.digest('hex') !== request.expected.sha256) throw targetChanged(target.path);
  } catch (error) {
    throw toDiskError(error, action);
  } finally {
    await old.close();
  }
}

/** Owner first: changing it takes set-id bits away, which the mode then brings back. */
async function keepProperties(
  site: Site,
  handle: FileHandle,
): Promise<{ mode: number; notKept: readonly string[] }> {
  const { stat } = site.target;
  if (stat === null) {
    const mode = 0o666 & ~process.umask();
    await handle.chmod(mode);
    return { mode, notKept: [] };
  }
  const notKept: string[] = [];
  const fresh = await handle.stat();
  if (fresh.uid !== stat.uid || fresh.gid !== stat.gid) {
    try {
      await handle.chown(stat.uid, stat.gid);
    } catch (error) {
      if (!isErrno(error, 'EPERM', 'EACCES', 'EINVAL', 'ENOSYS', 'ENOTSUP')) throw error;
      notKept.push('owner');
    }
  }
  // With another owner the set-id bits would mean somebody else.
  const mode = stat.mode & (notKept.length === 0 ? 0o7777 : 0o1777);
  await handle.chmod(mode);
  if (mode !== (stat.mode & 0o7777)) notKept.push('mode');
  if (stat.nlink > 1) notKept.push('hard_link');
  return { mode, notKept };
}

async function keepPrevious(
  committer: Committer,
  site: Site,
  afterSha256: string,
): Promise<string | null> {
  const { request, target, directory, name } = site;
  if (request.expected.sha256 === null) return null;
  const beforeSha256 = request.expected.sha256;
  const outcome = await onDisk(`keep the previous bytes of ${shown(target.path)}`, () =>
    committer.backups.keep({
      source: directory.pathOf(name),
      path: relative(committer.root, target.realPath).split(sep).join('/'),
      operation: request.operation,
      beforeSha256,
      beforeMode: request.expected.mode,
      afterSha256,
    }),
  );
  if (outcome.kind === 'changed') throw targetChanged(target.path);
  return outcome.id;
}

async function requireUnchanged(site: Site): Promise<void> {
  const { request, target, directory, name } = site;
  const found = await onDisk(`read ${shown(target.path)}`, async () => {
    if (!(await directory.stillThere())) throw targetChanged(target.path);
    return hashPath(directory.pathOf(name));
  });
  if ((found?.sha256 ?? null) === request.expected.sha256) return;
  throw request.expected.exists ? targetChanged(target.path) : appeared(site);
}

async function putInPlace(site: Site, temporary: string, warnings: string[]): Promise<void> {
  const { request, directory, name } = site;
  const place = directory.pathOf(name);
  if (request.expected.exists) {
    await rename(temporary, place);
    return;
  }
  try {
    await link(temporary, place);
  } catch (error) {
    if (isErrno(error, 'EEXIST')) throw appeared(site, error);
    if (!isErrno(error, ...LINK_UNSUPPORTED)) throw error;
    await createExclusively(site, temporary, place);
    warnings.push('created_without_link');
  }
  // The target stands; a temporary name that cannot be removed now goes with the next start.
  await unlink(temporary).catch(() => warnings.push('temporary_file_left'));
}

async function createExclusively(site: Site, temporary: string, place: string): Promise<void> {
  const from = await open(temporary, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { mode } = await from.stat();
    let to: FileHandle;
    try {
      to = await open(place, 'wx', mode & 0o777);
    } catch (error) {
      throw isErrno(error, 'EEXIST') ? appeared(site, error) : error;
    }
    try {
      let position = 0;
      for await (const chunk of readRange(from, 0)) {
        await writeAll(to, chunk, position);
        position += chunk.length;
      }
      await to.sync();
      await to.close();
    } catch (error) {
      await to.close().catch(() => undefined);
      await unlink(place).catch(() => undefined);
      throw error;
    }
  } finally {
    await from.close();
  }
}

/** The new bytes stand, but only this makes their name durable; without it nothing may be called written. */
async function syncChange(site: Site): Promise<void> {
  try {
    await site.directory.sync();
  } catch (error) {
    const cause = toDiskError(error, `make the change of ${shown(site.target.path)} durable`);
    throw new OrionError({
      code: cause.code,
      message: cause.message,
      retryable: false,
      hint: 'The file has its new content, but the disk did not confirm it; check the disk.',
      details: { ...cause.details, changed: true },
      cause: error,
    });
  }
}

function appeared(site: Site, cause?: unknown): OrionError {
  const { request, target } = site;
  return request.operation === 'create'
    ? fileExists(target.path, cause)
    : targetChanged(target.path);
}

function fileExists(path: string, cause?: unknown): OrionError {
  return new OrionError({
    code: 'FILE_EXISTS',
    message: `${shown(path)} exists already.`,
    ...(cause === undefined ? {} : { cause }),
  });
}

function targetChanged(path: string): OrionError {
  return new OrionError({
    code: 'TARGET_CHANGED',
    message: `${shown(path)} is not what it was when the work began; nothing was overwritten.`,
  });
}
