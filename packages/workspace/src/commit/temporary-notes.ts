/**
 * Notes about commits in progress. They let the start after a kill find what is left: a temporary file beside the
 * target, and a backup of a change that was not made.
 *
 * T1. A note is durable before its temporary file is created, and is removed after it.
 * T2. Only notes of dead processes and of finished commits are processed, and only files inside the workspace with the
 *     name of a temporary file are removed. A note is never renewed: its owner on another host counts as dead only if
 *     the lock of its commit is free.
 * T3. A temporary file without a second name proves that its change was not made. So it is removed after the backup of
 *     that change, never before: once the file is gone, an existing backup proves that the change was made.
 * T4. An unreadable note is still being written, or its writer died before it created the temporary file. The note is
 *     removed once it is old.
 */
import { randomBytes } from 'node:crypto';
import { lstat, unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { syncDirectory } from '../disk/directories.ts';
import { isErrno } from '../disk/disk-error.ts';
import { createFile, isThere, jsonBytes, readFields, removeIfThere } from '../disk/files.ts';
import { judgeOwner, LEASE_TTL_MS } from '../ownership/judge-owner.ts';
import { parseOwner } from '../ownership/owner-record.ts';
import type { OwnerRecord } from '../ownership/owner-record.ts';
import type { LockTarget, TargetLock } from '../ownership/target-locks.ts';
import { isInside, resolvePath } from '../path-policy/resolve-path.ts';
import type { SessionStoreOptions } from '../session-dir/session-store-options.ts';
import type { StateDirectory } from '../state-directory.ts';
import type { BackupStore } from './backup-store.ts';

const TEMPORARY_NAME = /^\.orion-[0-9a-f]{16}\.tmp$/u;
const MAX_NOTE_BYTES = 16 * 1024;

export function newTemporaryName(): string {
  return `.orion-${randomBytes(8).toString('hex')}.tmp`;
}

/** What a commit is about to create: a file, relative to the root, and a backup. */
type StartedCommit = { readonly temporary: string; readonly backupId: string | undefined };

/** `locked`: the path, with links resolved, whose lock is held until the commit is finished. */
export type NotedCommit = StartedCommit & { readonly locked: string };

/** Both methods never fail. A later sweep removes what is left. */
export type TemporaryNote = {
  /** Nothing of the commit is left. */
  remove(): Promise<void>;
  /** Something could not be removed. The next sweep tries again, even in this process. */
  leave(): Promise<void>;
};

type NotesOptions = Pick<SessionStoreOptions, 'state' | 'root' | 'observer' | 'clock'>;

export class TemporaryNotes {
  readonly #options: NotesOptions;
  readonly #state: StateDirectory;
  /** Notes of finished commits of this process. */
  readonly #left: Set<string> = new Set();

  constructor(options: NotesOptions) {
    this.#options = options;
    this.#state = options.state;
  }

  /** Without a usable state directory, the commit continues without a note. */
  async note(commit: NotedCommit): Promise<TemporaryNote> {
    const path = join(this.#state.temporaries, `${basename(commit.temporary)}.json`);
    try {
      await this.#state.ensure(this.#state.temporaries);
      const owner: OwnerRecord = await this.#options.observer.newOwner();
      const { temporary, backupId, locked } = commit;
      const note = { ...owner, root: this.#state.root, temporary, backup_id: backupId, locked };
      await createFile(path, jsonBytes(note));
      await syncDirectory(this.#state.temporaries);
    } catch {
      await removeIfThere(path).catch(() => undefined);
      return { remove: async () => undefined, leave: async () => undefined };
    }
    return {
      remove: () => removeIfThere(path).catch(() => undefined),
      leave: async () => void this.#left.add(path),
    };
  }

  /** Removes what dead processes left, including the backups that they were creating. */
  async sweep(backups: BackupStore, lockTarget: LockTarget): Promise<void> {
    for (const name of await this.#state.names(this.#state.temporaries).catch(() => [])) {
      if (!TEMPORARY_NAME.test(name.replace(/\.json$/u, ''))) continue;
      const path = join(this.#state.temporaries, name);
      const fields = await readFields(path, MAX_NOTE_BYTES);
      const owner = parseOwner(fields);
      if (owner === null || fields === null) {
        await this.#removeIfOld(path);
        continue;
      }
      if (!this.#state.isAboutHere(fields['root'])) continue;
      const verdict = judgeOwner(owner, await this.#options.observer.observe(owner));
      if (verdict === 'live' && !this.#left.has(path)) continue;
      const { temporary, backup_id: backupId, locked } = fields;
      let lock: TargetLock | null = null;
      // Notes of earlier versions name no lock.
      if (verdict === 'presumed_dead' && typeof locked === 'string') {
        lock = await lockTarget(locked, locked).catch(() => null);
        if (lock === null) continue;
      }
      try {
        // Its owner may have finished before the lock was free.
        if (!(await isThere(path))) continue;
        await removeTemporary(this.#options.root, backups, {
          temporary: typeof temporary === 'string' ? temporary : '',
          backupId: typeof backupId === 'string' ? backupId : undefined,
        });
        this.#left.delete(path);
        await removeIfThere(path).catch(() => undefined);
      } finally {
        await lock?.release().catch(() => undefined);
      }
    }
  }

  async #removeIfOld(path: string): Promise<void> {
    try {
      const found = await lstat(path);
      const age = this.#options.clock.now() - found.mtimeMs;
      if (found.isFile() && age > LEASE_TTL_MS) await unlink(path);
    } catch {
      // It is gone, or stays until the next sweep.
    }
  }
}

/**
 * Removes a left-over temporary file and nothing else. Settles its backup first, which needs to know whether the file
 * proves that the change was not made (T3).
 */
export async function removeTemporary(
  root: string,
  backups: BackupStore,
  { temporary, backupId }: StartedCommit,
): Promise<void> {
  const path = await pathOfTemporary(root, temporary);
  const stat = path === null ? null : await unlessGone(lstat(path));
  const isThere = stat?.isFile() === true;
  if (backupId !== undefined) await backups.settle(backupId, isThere && stat.nlink === 1);
  if (isThere && path !== null) await unlessGone(unlink(path));
}

/** Whether the file is there whose bytes have not become the target: the change is prepared and not made (T3). */
export async function isUnmade(root: string, temporary: string): Promise<boolean> {
  const path = await pathOfTemporary(root, temporary);
  const stat = path === null ? null : await unlessGone(lstat(path));
  return stat?.isFile() === true && stat.nlink === 1;
}

async function pathOfTemporary(root: string, temporary: string): Promise<string | null> {
  const names = temporary.split('/');
  const name = names.pop() ?? '';
  if (!TEMPORARY_NAME.test(name)) return null;
  const found = await resolvePath(root, names);
  if (found.kind !== 'found' || !isInside(root, found.realPath)) return null;
  return join(found.realPath, name);
}

async function unlessGone<T>(step: Promise<T>): Promise<T | null> {
  try {
    return await step;
  } catch (error) {
    if (!isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EROFS')) throw error;
    return null;
  }
}
