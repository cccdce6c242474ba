/**
 * Backups that processes of other hosts find, too: a copy of each in the store.
 *
 * K4. A backup is in the store before its target changes, and goes from there before it goes from the disk. While the
 * store is away, a change waits for it as long as a session does.
 * K5. What the store has is of this user. Its bytes come to the disk when somebody asks for them, all of them or none:
 * what was read in part would be taken for the backup as long as it is there.
 */
import type { Clock, RecordPlace, SharedRecords } from '@orion/contracts';
import { join } from 'node:path';
import { createFile, jsonBytes, streamFile } from '../disk/files.ts';
import { isBackupId } from '../commit/backup-id.ts';
import { parseManifest } from '../commit/backup-manifest.ts';
import type { BackupManifest } from '../commit/backup-manifest.ts';
import { repeated } from './repeated.ts';

export type SharedBackupsOptions = {
  /** Called at the first use. */
  readonly records: () => SharedRecords;
  /** The workspace, which has the same path on each host. */
  readonly root: string;
  readonly clock: Clock;
  /** Whether a session may still be settled by a recovery. */
  readonly isOpen: (sessionId: string) => Promise<boolean>;
};

/** The store measures the age: a process with a wrong clock must not drop what others need. */
export type AgedBackup = { readonly manifest: BackupManifest; readonly ageMs: number };

export class SharedBackups {
  readonly #options: SharedBackupsOptions;
  readonly #place: RecordPlace;

  constructor(options: SharedBackupsOptions) {
    this.#options = options;
    this.#place = { root: options.root, kind: 'backup' };
  }

  /** `content`: the file with the kept bytes; null when none are kept. */
  async put(manifest: BackupManifest, content: string | null): Promise<void> {
    const text = jsonBytes(manifest).toString('utf8');
    const { records, clock } = this.#options;
    await repeated(clock, () => {
      const bytes = content === null ? undefined : streamFile(content, 'read the kept bytes', null);
      return records().put(this.#place, manifest.id, text, bytes);
    });
  }

  remove(id: string): Promise<void> {
    return this.#options.records().remove(this.#place, id);
  }

  async has(id: string): Promise<boolean> {
    return (await this.#options.records().get(this.#place, id)) !== null;
  }

  /** Null if there is none. */
  async read(id: string): Promise<BackupManifest | null> {
    const text = await this.#options.records().get(this.#place, id);
    return text === null ? null : ofHere(text, id);
  }

  /** Newest first. */
  async ids(): Promise<readonly string[]> {
    return (await this.#options.records().names(this.#place)).filter(isBackupId);
  }

  /** Those of these ids, or of all, that can be read. */
  async all(ids?: readonly string[]): Promise<ReadonlyMap<string, AgedBackup>> {
    const records = await this.#options.records().list(this.#place, ids);
    const found = new Map<string, AgedBackup>();
    for (const { name, text, ageMs } of records) {
      const manifest = ofHere(text, name);
      if (manifest !== null) found.set(name, { manifest, ageMs });
    }
    return found;
  }

  isOpen(sessionId: string): Promise<boolean> {
    return this.#options.isOpen(sessionId);
  }

  /** Writes the kept bytes to a file that does not exist. */
  async fetch(id: string, directory: string): Promise<void> {
    await createFile(join(directory, 'content'), this.#options.records().read(this.#place, id));
  }
}

/** Without `root`, which leads from another state directory. */
function ofHere(text: string, id: string): BackupManifest | null {
  const manifest = parseManifest(text, id);
  if (manifest === null) return null;
  const { root: _, ...here } = manifest;
  return here;
}
