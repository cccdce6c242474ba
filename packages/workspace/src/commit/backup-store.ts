/**
 * Keeps the previous bytes of changed files so that a change can be undone without git.
 *
 * K1. Before the target changes, its backup is durable and has the hash that the commit expects.
 * K2. Limits of age and size drop the oldest backups first, but none that is needed (`prune-backups.ts`).
 * K3. An unfinished backup has a name that no backup has.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, open, rename, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '@orion/contracts';
import { hasDescriptorPaths } from '../disk/anchored-directory.ts';
import { syncDirectory } from '../disk/directories.ts';
import { errnoOf, isErrno } from '../disk/disk-error.ts';
import { createFile, jsonBytes, readSmallFile, removeIfThere, scanRange } from '../disk/files.ts';
import { MODE_REFUSED } from '../disk/set-mode.ts';
import { writeFrom } from '../disk/write-all.ts';
import type { PathPolicy } from '../path-policy/path-policy.ts';
import type { RetentionLimits } from '../retention/retention.ts';
import type { SessionKey } from '../session-dir/session-key.ts';
import type { StateDirectory } from '../state-directory.ts';
import { draftOf, isBackupId, mayBeOfChange, newBackupId, newestFirst } from './backup-id.ts';
import { parseManifest } from './backup-manifest.ts';
import type { BackupManifest } from './backup-manifest.ts';
import { hashPath } from './hash-file.ts';
import { pruneBackups } from './prune-backups.ts';
import type { AgedBackup, SharedBackups } from '../stored/shared-backups.ts';

const MAX_MANIFEST_BYTES = 64 * 1024;
/** In one statement, where the store has them. */
const READ_AT_ONCE = 50;
/** An unfinished backup. */
export type BackupDraft = {
  readonly id: string;
  /** The path of the kept bytes before and after `seal`; null when none are kept. */
  readonly contentPath: string | null;
  readonly sealedContentPath: string | null;
  /** Starts a backup of a file that does not exist yet. */
  begin(): Promise<void>;
  /** Copies the bytes of `source`. Returns `changed` if they have another hash. */
  keep(source: FileHandle, sha256: string): Promise<'kept' | 'changed'>;
  /** Makes the backup durable and listed. */
  seal(change: Omit<BackupManifest, 'version' | 'id' | 'root' | 'created_at'>): Promise<void>;
  /** Removes the backup of a change that is not made, also after `seal`. */
  discard(): Promise<void>;
};

export type BackupStoreOptions = {
  readonly state: StateDirectory;
  readonly clock: Clock;
  readonly policy: PathPolicy;
  readonly limits: RetentionLimits;
  /** Null if own and foreign backups cannot be distinguished. */
  readonly loadKey: () => Promise<SessionKey | null>;
  /** Where processes of other hosts find them; left out where there are none. */
  readonly shared?: SharedBackups;
};

/** A stored backup. */
export type ListedBackup = BackupManifest & {
  /** It is known to belong to another user. */
  readonly foreign: boolean;
  /** It is known to belong to this user. Both are false if this is unknown. */
  readonly own: boolean;
};

export class BackupStore {
  readonly #options: BackupStoreOptions;
  readonly #state: StateDirectory;
  /** Bytes at the last count plus those added since, whether or not they are still there; null before the first count. */
  #keptBytes: number | null = null;
  #pruning: Promise<void> | null = null;
  #lastMade = 0;

  constructor(options: BackupStoreOptions) {
    this.#options = options;
    this.#state = options.state;
  }

  /** @param changeId of the session, plan or undo that it belongs to */
  draft(changeId: string | undefined): BackupDraft {
    // No two changes of a process have the same time, so their ids show their order.
    this.#lastMade = Math.max(this.#options.clock.now(), this.#lastMade + 1);
    const createdAt = new Date(this.#lastMade).toISOString();
    const id = newBackupId(createdAt, changeId);
    const { backups } = this.#state;
    const draft = join(backups, draftOf(id));
    const sealed = join(backups, id);
    let hasContent = false;
    const begin = async (): Promise<void> => {
      await this.#state.ensure(backups);
      await mkdir(draft, { mode: 0o700 });
    };
    return {
      id,
      get contentPath() {
        return hasContent ? join(draft, 'content') : null;
      },
      get sealedContentPath() {
        return hasContent ? join(sealed, 'content') : null;
      },
      begin,
      keep: async (source, sha256) => {
        await begin();
        const content = join(draft, 'content');
        await copyDurably(source, content);
        const copied = await hashPath(content);
        if (copied?.sha256 !== sha256) return 'changed';
        hasContent = true;
        return 'kept';
      },
      seal: async (change) => {
        const { root } = this.#state;
        const manifest = { version: 1, id, root, created_at: createdAt, ...change } as const;
        const mac = (await this.#options.loadKey())?.sign(manifest);
        // Without a key, JSON omits the undefined MAC.
        await createFile(join(draft, 'manifest.json'), jsonBytes({ ...manifest, mac }));
        await syncDirectory(draft);
        await rename(draft, sealed);
        await syncDirectory(backups);
        await this.#options.shared?.put(manifest, hasContent ? join(sealed, 'content') : null);
        if (this.#keptBytes !== null) this.#keptBytes += change.before?.bytes ?? 0;
      },
      discard: async () => {
        await rm(draft, { recursive: true, force: true });
        await this.forget(id);
      },
    };
  }

  async forget(id: string): Promise<void> {
    await this.#options.shared?.remove(id);
    await rm(join(this.#state.backups, id), { recursive: true, force: true });
    // Whatever is removed next must not be gone before this after a power cut.
    await syncDirectory(this.#state.backups).catch(() => undefined);
  }

  /** Whether this backup proves that its change was made, once the temporary file is gone. */
  async provesChange(id: string): Promise<boolean> {
    if (!isBackupId(id)) return false;
    if (await this.#state.holds(join(this.#state.backups, id))) return true;
    return (await this.#options.shared?.has(id)) ?? false;
  }

  /**
   * Cleans up after a process that died during a commit: removes an unfinished backup, and a complete one whose change
   * was not made. `didNotHappen`: this is already known.
   */
  async settle(id: string, didNotHappen: boolean): Promise<void> {
    if (!isBackupId(id)) return;
    if (await this.#state.holds(this.#state.backups))
      await rm(join(this.#state.backups, draftOf(id)), { recursive: true, force: true });
    const manifest = await this.read(id);
    if (manifest === null) return;
    const before = manifest.before?.sha256 ?? null;
    const after = manifest.after?.sha256 ?? null;
    if (before === after) return;
    let isMade: boolean;
    try {
      const found = await this.#options.policy.hashOf(manifest.path);
      // Without links, the temporary file keeps its own name until the new file is complete.
      isMade = didNotHappen ? found === after : found !== before;
    } catch {
      // A file that cannot be read may have changed, so its backup stays.
      isMade = !didNotHappen;
    }
    if (!isMade) await this.forget(id);
  }

  /** Null if this workspace has no such backup, or its manifest is invalid. Rejects if the disk reports an error. */
  async read(id: string): Promise<ListedBackup | null> {
    const backup = await this.#readAny(id);
    return backup !== null && this.#state.isAboutHere(backup.root) ? backup : null;
  }

  /**
   * Includes backups of other workspaces that share the state directory.
   *
   * @param shared what the store has, if that was read before
   */
  async #readAny(
    id: string,
    shared?: ReadonlyMap<string, AgedBackup>,
  ): Promise<ListedBackup | null> {
    if (!isBackupId(id)) return null;
    const directory = join(this.#state.backups, id);
    if (!(await this.#state.holds(directory))) {
      return ownOf(
        shared === undefined ? await this.#options.shared?.read(id) : shared.get(id)?.manifest,
      );
    }
    const file = await readSmallFile(join(directory, 'manifest.json'), MAX_MANIFEST_BYTES);
    // If this were skipped, a file of a change would silently not be undone with the others.
    if (file.kind === 'unusable' && errnoOf(file.error) !== null) throw file.error;
    const manifest = file.kind === 'text' ? parseManifest(file.text, id) : null;
    if (file.kind !== 'text' || manifest === null) return null;
    const key = await this.#options.loadKey();
    const own = key !== null && key.isOwn(file.text);
    return { ...manifest, own, foreign: key !== null && !own };
  }

  /** Why even this user's own backups count as foreign; null if they do not. */
  async keyProblem(): Promise<string | null> {
    return (await this.#options.loadKey())?.problem ?? null;
  }

  /** The path of the kept bytes, of which none may be there. */
  async contentPath(id: string): Promise<string> {
    const { backups } = this.#state;
    const sealed = join(backups, id);
    const { shared } = this.#options;
    if (shared === undefined || (await this.#state.holds(sealed))) return join(sealed, 'content');
    const manifest = await shared.read(id);
    const kept = manifest?.before ?? null;
    if (kept === null) return join(sealed, 'content');
    const draft = join(backups, `${draftOf(id)}-${randomBytes(4).toString('hex')}`);
    await this.#state.ensure(backups);
    await mkdir(draft, { mode: 0o700 });
    try {
      await shared.fetch(id, draft);
      // K5
      if ((await hashPath(join(draft, 'content')))?.sha256 === kept.sha256) {
        const here = { ...manifest, root: this.#state.root };
        const mac = (await this.#options.loadKey())?.sign(here);
        await createFile(join(draft, 'manifest.json'), jsonBytes({ ...here, mac }));
        // Another call may have been faster: its bytes are the same.
        await rename(draft, sealed).catch(() => undefined);
      }
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
    return join(sealed, 'content');
  }

  /** Of all backups, newest first. Of those of several hosts the store knows the order. */
  async ids(): Promise<readonly string[]> {
    const shared = (await this.#options.shared?.ids()) ?? [];
    const isShared = new Set(shared);
    const names = await this.#state.directories(this.#state.backups);
    const local = newestFirst(names.filter((name) => isBackupId(name) && !isShared.has(name)));
    const ids: string[] = [];
    let next = 0;
    for (const id of shared) {
      for (; (local[next] ?? '') > id; next += 1) ids.push(local[next] ?? '');
      ids.push(id);
    }
    return [...ids, ...local.slice(next)];
  }

  /** In the order of these ids; leaves out those that cannot be read. They are read as they are asked for. */
  async *readEach(ids: readonly string[]): AsyncGenerator<ListedBackup, void> {
    for (let start = 0; start < ids.length; start += READ_AT_ONCE) {
      const some = ids.slice(start, start + READ_AT_ONCE);
      const shared = (await this.#options.shared?.all(some)) ?? NONE;
      for (const id of some) {
        const backup = await this.#readAny(id, shared);
        if (backup !== null && this.#state.isAboutHere(backup.root)) yield backup;
      }
    }
  }

  /** The newest backup of a change. Reads those alone that may be of it. */
  async find(changeId: string): Promise<ListedBackup | null> {
    const ids = (await this.ids()).filter(mayBeOfChange(changeId));
    for await (const backup of this.readEach(ids)) {
      if (backup.change_id === changeId) return backup;
    }
    return null;
  }

  /** Recounts only if the quota may be exceeded. */
  async pruneWhenFull(): Promise<void> {
    if (this.#keptBytes !== null && this.#keptBytes <= this.#options.limits.maxBytes) return;
    await this.prune();
  }

  /** Calls that come at the same time share one. */
  prune(): Promise<void> {
    this.#pruning ??= this.#prune().finally(() => {
      this.#pruning = null;
    });
    return this.#pruning;
  }

  async #prune(): Promise<void> {
    const read = (id: string): Promise<ListedBackup | null> => this.#readAny(id);
    this.#keptBytes = await pruneBackups({ ...this.#options, read });
  }
}

const NONE: ReadonlyMap<string, AgedBackup> = new Map();

/** What the store has is of this user. */
function ownOf(manifest: BackupManifest | null | undefined): ListedBackup | null {
  return manifest === null || manifest === undefined
    ? null
    : { ...manifest, own: true, foreign: false };
}

async function copyDurably(source: FileHandle, destination: string): Promise<void> {
  const isCopied = (await hasDescriptorPaths()) && (await copyByDescriptor(source, destination));
  const handle = await open(destination, isCopied ? 'r+' : 'wx', 0o600);
  try {
    if (!isCopied) await writeFrom(handle, scanRange(source, 0));
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Does not open the file by name again: the name may belong to another file or a pipe by now. False where modes cannot
 * be set, which `copyFile` does as well.
 */
async function copyByDescriptor(source: FileHandle, destination: string): Promise<boolean> {
  try {
    const flags = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE;
    await copyFile(`/proc/self/fd/${source.fd}`, destination, flags);
    await chmod(destination, 0o600);
    return true;
  } catch (error) {
    if (!isErrno(error, ...MODE_REFUSED)) throw error;
    await removeIfThere(destination);
    return false;
  }
}
