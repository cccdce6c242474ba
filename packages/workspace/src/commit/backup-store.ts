/**
 * The previous bytes of changed files, kept so that a change can be undone without git.
 *
 * K1. A backup is durable, and its bytes have the hash that the commit expects, before the target
 *     changes.
 * K2. Age and quota drop the oldest first; the newest is never dropped.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, WriteOperation } from '@orion/contracts';
import { syncDirectory } from '../disk/directories.ts';
import { isErrno } from '../disk/disk-error.ts';
import { createFile, readSmallFile } from '../disk/files.ts';
import { isFields, parseFields } from '../disk/json.ts';
import { expired } from '../retention/retention.ts';
import type { RetentionLimits } from '../retention/retention.ts';
import type { StateDirectory } from '../state-directory.ts';
import { hashPath } from './hash-file.ts';

/** `manifest.json` of a backup. */
export type BackupManifest = {
  readonly version: 1;
  readonly id: string;
  /** The file, relative to the workspace root. */
  readonly path: string;
  readonly operation: WriteOperation;
  readonly created_at: string;
  readonly before: { readonly sha256: string; readonly bytes: number; readonly mode: string };
  readonly after: { readonly sha256: string };
};

export type BackupRequest = {
  /** Where the bytes are now. */
  readonly source: string;
  readonly path: string;
  readonly operation: WriteOperation;
  readonly beforeSha256: string;
  readonly beforeMode: number;
  readonly afterSha256: string;
};

export type BackupOutcome =
  | { readonly kind: 'kept'; readonly id: string }
  /** The source no longer has the bytes it should have. */
  | { readonly kind: 'changed' };

const BACKUP_ID = /^\d{8}T\d{9}Z-[0-9a-f]{8}$/u;
const DRAFT_PREFIX = '.draft-';
const DRAFT_AGE_MS = 60 * 60 * 1000;
const MAX_MANIFEST_BYTES = 64 * 1024;

export class BackupStore {
  readonly #state: StateDirectory;
  readonly #clock: Clock;
  readonly #limits: RetentionLimits;
  /** Bytes kept when last counted, and those added since; null before the first count. */
  #keptBytes: number | null = null;

  constructor(state: StateDirectory, clock: Clock, limits: RetentionLimits) {
    this.#state = state;
    this.#clock = clock;
    this.#limits = limits;
  }

  async keep(request: BackupRequest): Promise<BackupOutcome> {
    await this.#state.ensure(this.#state.backups);
    const createdAt = new Date(this.#clock.now()).toISOString();
    const id = `${createdAt.replace(/[-:.]/gu, '')}-${randomBytes(4).toString('hex')}`;
    const directory = join(this.#state.backups, id);
    // Under a name that is no backup's until it is complete.
    const draft = join(this.#state.backups, `${DRAFT_PREFIX}${id}`);
    await mkdir(draft, { mode: 0o700 });
    try {
      const content = join(draft, 'content');
      await copyFile(request.source, content, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      await chmod(content, 0o600);
      const handle = await open(content, 'r+');
      try {
        await handle.sync();
      } finally {
        await handle.close();
      }
      const copied = await hashPath(content);
      if (copied === null || copied.sha256 !== request.beforeSha256) {
        await rm(draft, { recursive: true, force: true });
        return { kind: 'changed' };
      }
      const manifest: BackupManifest = {
        version: 1,
        id,
        path: request.path,
        operation: request.operation,
        created_at: createdAt,
        before: {
          sha256: request.beforeSha256,
          bytes: copied.bytes,
          mode: octal(request.beforeMode),
        },
        after: { sha256: request.afterSha256 },
      };
      await createFile(join(draft, 'manifest.json'), Buffer.from(`${JSON.stringify(manifest)}\n`));
      await syncDirectory(draft);
      await rename(draft, directory);
      await syncDirectory(this.#state.backups);
      if (this.#keptBytes !== null) this.#keptBytes += copied.bytes;
      return { kind: 'kept', id };
    } catch (error) {
      await rm(draft, { recursive: true, force: true }).catch(() => undefined);
      throw error;
    }
  }

  /** Forgets a backup of a change that did not happen. */
  async forget(id: string): Promise<void> {
    await rm(join(this.#state.backups, id), { recursive: true, force: true });
    this.#keptBytes = null;
  }

  /** Counts again only when the quota may have been passed. */
  async pruneWhenFull(): Promise<void> {
    if (this.#keptBytes !== null && this.#keptBytes <= this.#limits.maxBytes) return;
    await this.prune();
  }

  async prune(): Promise<void> {
    let names: string[];
    try {
      names = await readdir(this.#state.backups);
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return;
      throw error;
    }
    for (const name of names.filter((candidate) => candidate.startsWith(DRAFT_PREFIX))) {
      await this.#removeLeftDraft(name);
    }
    const entries = [];
    for (const name of names.filter((candidate) => BACKUP_ID.test(candidate))) {
      const entry = await this.#measure(name);
      if (entry !== null) entries.push(entry);
    }
    const dropped = new Set(expired(entries, this.#limits, this.#clock.now()));
    // Age drops the newest too, but never the last way back.
    const newest = entries.toSorted((a, b) => b.since - a.since)[0];
    if (newest !== undefined) dropped.delete(newest.name);
    for (const name of dropped) {
      await rm(join(this.#state.backups, name), { recursive: true, force: true });
    }
    this.#keptBytes = entries
      .filter((entry) => !dropped.has(entry.name))
      .reduce((total, entry) => total + entry.bytes, 0);
  }

  /** Of a process that died while it made the backup. */
  async #removeLeftDraft(name: string): Promise<void> {
    const path = join(this.#state.backups, name);
    const stat = await lstat(path).catch(() => null);
    if (stat === null || this.#clock.now() - stat.mtimeMs < DRAFT_AGE_MS) return;
    await rm(path, { recursive: true, force: true });
  }

  async #measure(name: string): Promise<{ name: string; since: number; bytes: number } | null> {
    const directory = join(this.#state.backups, name);
    try {
      const stat = await lstat(directory);
      if (!stat.isDirectory()) return null;
      const file = await readSmallFile(join(directory, 'manifest.json'), MAX_MANIFEST_BYTES);
      const manifest = file.kind === 'text' ? parseFields(file.text) : null;
      const created = Date.parse(String(manifest?.['created_at']));
      const before = manifest?.['before'];
      const bytes = isFields(before) && typeof before['bytes'] === 'number' ? before['bytes'] : 0;
      return { name, since: Number.isNaN(created) ? stat.mtimeMs : created, bytes };
    } catch {
      return null;
    }
  }
}

export function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, '0');
}
