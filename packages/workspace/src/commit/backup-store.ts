/**
 * Keeps the previous bytes of changed files so that a change can be undone without git.
 *
 * K1. Before the target changes, its backup is durable and has the hash that the commit expects.
 * K2. Limits of age and size drop the oldest backups first. The newest change of a workspace stays whole, and so does a
 *     plan in progress. A backup of an existing session stays, too, because it shows a recovery that the change was
 *     made.
 * K3. An unfinished backup has a name that no backup has.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '@orion/contracts';
import { hasDescriptorPaths } from '../disk/anchored-directory.ts';
import { removeIfOlder, syncDirectory } from '../disk/directories.ts';
import { errnoOf } from '../disk/disk-error.ts';
import { createFile, jsonBytes, readSmallFile, scanRange } from '../disk/files.ts';
import { writeFrom } from '../disk/write-all.ts';
import type { PathPolicy } from '../path-policy/path-policy.ts';
import { expired } from '../retention/retention.ts';
import type { Retained, RetentionLimits } from '../retention/retention.ts';
import type { SessionKey } from '../session-dir/session-key.ts';
import { isSessionId } from '../state-directory.ts';
import type { StateDirectory } from '../state-directory.ts';
import {
  isBackupId,
  mayBeOfChange,
  newBackupId,
  parseManifest,
  timeOfBackup,
} from './backup-manifest.ts';
import type { BackupManifest } from './backup-manifest.ts';
import { hashPath } from './hash-file.ts';
import type { SharedBackups } from '../stored/shared-backups.ts';

const DRAFT_PREFIX = '.draft-';
const DRAFT_AGE_MS = 60 * 60 * 1000;
const MAX_MANIFEST_BYTES = 64 * 1024;
/** In one statement, where the store has them. */
const READ_AT_ONCE = 50;
/** The share of the size limit that is kept once it was exceeded. */
const ROOMY = 0.9;

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

/** What decides whether a backup may go. */
type Kept = {
  readonly name: string;
  readonly root: string | undefined;
  readonly changeId: string | null;
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
    const draft = draftPath(backups, id);
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
      await rm(draftPath(this.#state.backups, id), { recursive: true, force: true });
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
    shared?: ReadonlyMap<string, BackupManifest>,
  ): Promise<ListedBackup | null> {
    if (!isBackupId(id)) return null;
    const directory = join(this.#state.backups, id);
    if (!(await this.#state.holds(directory))) {
      return ownOf(shared === undefined ? await this.#options.shared?.read(id) : shared.get(id));
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
    if ((manifest?.before ?? null) === null) return join(sealed, 'content');
    const draft = `${draftPath(backups, id)}-${randomBytes(4).toString('hex')}`;
    await this.#state.ensure(backups);
    await mkdir(draft, { mode: 0o700 });
    await shared.fetch(id, draft);
    const here = { ...manifest, root: this.#state.root };
    const mac = (await this.#options.loadKey())?.sign(here);
    await createFile(join(draft, 'manifest.json'), jsonBytes({ ...here, mac }));
    // Another call may have been faster: its bytes are the same.
    await rename(draft, sealed).catch(() => rm(draft, { recursive: true, force: true }));
    return join(sealed, 'content');
  }

  /** Of all backups, newest first. */
  async ids(): Promise<readonly string[]> {
    const local = (await this.#state.names(this.#state.backups)).filter(isBackupId);
    return newestFirst([...local, ...((await this.#options.shared?.ids()) ?? [])]);
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
  async prune(): Promise<void> {
    this.#pruning ??= this.#prune();
    try {
      await this.#pruning;
    } finally {
      this.#pruning = null;
    }
  }

  async #prune(): Promise<void> {
    const names = await this.#state.names(this.#state.backups);
    const now = this.#options.clock.now();
    // Left by a process that died while it created the backup, and without a note.
    for (const name of names.filter((candidate) => candidate.startsWith(DRAFT_PREFIX))) {
      await removeIfOlder(join(this.#state.backups, name), DRAFT_AGE_MS, now);
    }
    const shared = (await this.#options.shared?.all()) ?? NONE;
    const local = new Set(names.filter(isBackupId));
    const entries: Retained[] = [];
    for (const name of newestFirst([...local, ...shared.keys()])) {
      const bytes = shared.get(name)?.before?.bytes ?? (await this.#bytesOf(name));
      entries.push({ name, since: timeOfBackup(name), bytes });
    }
    const { limits } = this.#options;
    // With room for the next ones: each recount looks at everything.
    const isFull = sumOf(entries) > limits.maxBytes;
    const maxBytes = isFull ? limits.maxBytes * ROOMY : limits.maxBytes;
    const dropped = new Set(
      await this.#droppable(expired(entries, { ...limits, maxBytes }, now), entries, local),
    );
    for (const name of dropped) {
      await this.#options.shared?.remove(name);
      await rm(join(this.#state.backups, name), { recursive: true, force: true });
    }
    this.#keptBytes = sumOf(entries.filter(({ name }) => !dropped.has(name)));
  }

  /**
   * Which of the expired ones nothing needs. The age limit drops the newest ones, too, but never the last way back.
   *
   * @param entries all, newest first
   */
  async #droppable(
    expiredNames: readonly string[],
    entries: readonly Retained[],
    local: ReadonlySet<string>,
  ): Promise<readonly string[]> {
    const look = async (name: string): Promise<Kept | null> => {
      const manifest = await this.#readAny(name);
      if (manifest === null) return null;
      const root = local.has(name) ? manifest.root : this.#state.root;
      return { name, root, changeId: manifest.change_id ?? null };
    };
    const newest = new Map<string | undefined, Kept>();
    const unseen = entries.map(({ name }) => name).toReversed();
    const newestOf = async (root: string | undefined): Promise<Kept | undefined> => {
      while (!newest.has(root)) {
        const name = unseen.pop();
        if (name === undefined) break;
        const kept = await look(name).catch(() => null);
        if (kept !== null && !newest.has(kept.root)) newest.set(kept.root, kept);
      }
      return newest.get(root);
    };
    const names: string[] = [];
    for (const name of expiredNames) {
      let kept: Kept | null;
      try {
        kept = await look(name);
      } catch {
        continue;
      }
      if (kept === null) {
        names.push(name);
        continue;
      }
      const { changeId, root } = kept;
      const last = await newestOf(root);
      const isOfNewest = name === last?.name || (changeId !== null && changeId === last?.changeId);
      if (!isOfNewest && !(await this.#isOpen(changeId))) names.push(name);
    }
    return names;
  }

  /** Whether this is a plan in progress, or a session that a recovery may still settle. */
  async #isOpen(changeId: string | null): Promise<boolean> {
    if (changeId === null || !isSessionId(changeId)) return false;
    if ((await this.#options.shared?.isOpen(changeId)) === true) return true;
    const { sessions, attic, plans } = this.#state;
    for (const parent of [plans, sessions, attic]) {
      if (await this.#state.holds(join(parent, changeId))) return true;
    }
    return false;
  }

  /** What it keeps of the file before. */
  async #bytesOf(name: string): Promise<number> {
    try {
      return (await lstat(join(this.#state.backups, name, 'content'))).size;
    } catch {
      return 0;
    }
  }
}

const NONE: ReadonlyMap<string, BackupManifest> = new Map();

/** What the store has is of this user. */
function ownOf(manifest: BackupManifest | null | undefined): ListedBackup | null {
  return manifest === null || manifest === undefined
    ? null
    : { ...manifest, own: true, foreign: false };
}

function newestFirst(ids: Iterable<string>): readonly string[] {
  return [...new Set(ids)].toSorted().toReversed();
}

function sumOf(entries: readonly Retained[]): number {
  return entries.reduce((total, { bytes }) => total + bytes, 0);
}

function draftPath(backups: string, id: string): string {
  return join(backups, `${DRAFT_PREFIX}${id}`);
}

/** Does not open the file by name again: the name may belong to another file or a pipe by now. */
async function copyDurably(source: FileHandle, destination: string): Promise<void> {
  const named = await hasDescriptorPaths();
  if (named) {
    const flags = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE;
    await copyFile(`/proc/self/fd/${source.fd}`, destination, flags);
    await chmod(destination, 0o600);
  }
  const handle = await open(destination, named ? 'r+' : 'wx', 0o600);
  try {
    if (!named) await writeFrom(handle, scanRange(source, 0));
    await handle.sync();
  } finally {
    await handle.close();
  }
}
