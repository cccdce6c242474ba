import { createHash, randomBytes } from 'node:crypto';
import { WRITE_OPERATIONS, defined, isCount, parseFields } from '@orion/contracts';
import type { WriteOperation } from '@orion/contracts';
import {
  hasShape,
  isText,
  isTime,
  listOf,
  matching,
  oneOf,
  optional,
  orNull,
  shaped,
} from '../shape.ts';
import type { Shape } from '../shape.ts';

/** `manifest.json` of a backup: one change of one file. */
export type BackupManifest = {
  readonly version: 1;
  readonly id: string;
  /** The workspace root, relative to the state directory. */
  readonly root?: string;
  /** The file, relative to the workspace root, with links resolved. */
  readonly path: string;
  readonly operation: WriteOperation | 'undo';
  readonly created_at: string;
  /** The session or plan that the change belongs to; if missing, the backup's own id. */
  readonly change_id?: string;
  /** The backups that this change restored. */
  readonly undoes?: readonly string[];
  /** Null: there was no file. */
  readonly before: FileState | null;
  /** Null: the file was removed. */
  readonly after: Pick<FileState, 'sha256'> | null;
};

export type FileState = { readonly sha256: string; readonly bytes: number; readonly mode: string };

/** Its time, something random and the mark of its change. Backups of earlier versions have no mark. */
const BACKUP_ID =
  /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})(\d{3})Z-[0-9a-f]{8}([0-9a-f]{8})?$/u;
const isHash = matching(/^[0-9a-f]{64}$/u);

const MANIFEST: Shape<BackupManifest> = {
  version: oneOf(1),
  id: isText,
  root: optional(isText),
  path: (value) => isText(value) && value !== '',
  operation: oneOf('undo', ...WRITE_OPERATIONS),
  created_at: isTime,
  change_id: optional(isText),
  undoes: optional(listOf(matching(BACKUP_ID))),
  before: orNull(
    shaped<FileState>({ sha256: isHash, bytes: isCount, mode: matching(/^[0-7]{4}$/u) }),
  ),
  after: orNull(shaped<Pick<FileState, 'sha256'>>({ sha256: isHash })),
};

export function isBackupId(text: string): boolean {
  return BACKUP_ID.test(text);
}

/** @param createdAt ISO-8601, UTC */
export function newBackupId(createdAt: string, changeId: string | undefined): string {
  const random = randomBytes(4).toString('hex');
  const mark = changeId === undefined ? randomBytes(4).toString('hex') : markOf(changeId);
  return `${createdAt.replace(/[-:.]/gu, '')}-${random}${mark}`;
}

/** Tells by its id whether a backup may be of a change; its manifest says whether it is. */
export function mayBeOfChange(changeId: string): (id: string) => boolean {
  const wanted = markOf(changeId);
  return (id) => {
    const mark = markIn(id);
    return mark === undefined || mark === wanted;
  };
}

/**
 * Of ids in their order, the oldest one that may belong to the change of a backup.
 *
 * @param newestFirst among which that backup is
 */
export function oldestOfChange(
  newestFirst: readonly string[],
): (backup: Pick<BackupManifest, 'id' | 'change_id'>) => string {
  const oldest = new Map(newestFirst.map((id) => [markIn(id), id]));
  const oldestWithoutMark = oldest.get(undefined);
  return ({ id, change_id: changeId }) => {
    if (changeId === undefined) return id;
    const found = oldest.get(markOf(changeId)) ?? id;
    return oldestWithoutMark === undefined || found < oldestWithoutMark ? found : oldestWithoutMark;
  };
}

function markIn(id: string): string | undefined {
  return BACKUP_ID.exec(id)?.[8];
}

function markOf(changeId: string): string {
  return createHash('sha256').update(changeId).digest('hex').slice(0, 8);
}

/** When the backup with this id was made, in milliseconds since the epoch; 0 if its id has no such time. */
export function timeOfBackup(id: string): number {
  return Date.parse(id.replace(BACKUP_ID, '$1-$2-$3T$4:$5:$6.$7Z')) || 0;
}

export function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, '0');
}

/** Null unless the text is the complete manifest of this backup. */
export function parseManifest(text: string, id: string): BackupManifest | null {
  const fields = parseFields(text);
  if (!hasShape(fields, MANIFEST) || fields.id !== id) return null;
  const { root, path, operation, created_at, change_id, undoes, before, after } = fields;
  return {
    version: 1,
    id,
    path,
    operation,
    created_at,
    ...defined({ root, change_id, undoes }),
    before,
    after: after === null ? null : { sha256: after.sha256 },
  };
}
