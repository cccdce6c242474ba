import { WRITE_OPERATIONS, isCount, isFields, parseFields } from '@orion/contracts';
import type { WriteOperation } from '@orion/contracts';

/** `manifest.json` of a backup: one change of one file. */
export type BackupManifest = {
  readonly version: 1;
  readonly id: string;
  /** The workspace root, relative to the state directory. */
  readonly root?: string;
  /** The file, relative to the workspace root, behind any link. */
  readonly path: string;
  readonly operation: WriteOperation | 'undo';
  readonly created_at: string;
  /** The session or plan that the change belongs to; its own id when left out. */
  readonly change_id?: string;
  /** The backups that this change put back. */
  readonly undoes?: readonly string[];
  /** Null: there was no file. */
  readonly before: FileState | null;
  /** Null: the file was removed. */
  readonly after: Pick<FileState, 'sha256'> | null;
};

export type FileState = { readonly sha256: string; readonly bytes: number; readonly mode: string };

const BACKUP_ID = /^\d{8}T\d{9}Z-[0-9a-f]{8}$/u;
const SHA256 = /^[0-9a-f]{64}$/u;

export function isBackupId(text: string): boolean {
  return BACKUP_ID.test(text);
}

export function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, '0');
}

/** Null for anything that is not the complete manifest of this backup. */
export function parseManifest(text: string, id: string): BackupManifest | null {
  const fields = parseFields(text);
  if (fields === null || fields['version'] !== 1 || fields['id'] !== id) return null;
  const { root, path, operation, created_at, change_id, undoes, before, after } = fields;
  if (typeof path !== 'string' || path === '') return null;
  if (root !== undefined && typeof root !== 'string') return null;
  if (operation !== 'undo' && !isOperation(operation)) return null;
  if (typeof created_at !== 'string' || Number.isNaN(Date.parse(created_at))) return null;
  if (change_id !== undefined && typeof change_id !== 'string') return null;
  if (undoes !== undefined && !isBackupIds(undoes)) return null;
  if (before !== null && !isFileState(before)) return null;
  if (after !== null && !(isFields(after) && isSha256(after['sha256']))) return null;
  return {
    version: 1,
    id,
    ...(root === undefined ? {} : { root }),
    path,
    operation,
    created_at,
    ...(change_id === undefined ? {} : { change_id }),
    ...(undoes === undefined ? {} : { undoes }),
    before,
    after: after === null ? null : { sha256: String(after['sha256']) },
  };
}

function isBackupIds(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((id) => typeof id === 'string' && isBackupId(id));
}

function isOperation(value: unknown): value is WriteOperation {
  return WRITE_OPERATIONS.some((operation) => operation === value);
}

function isFileState(value: unknown): value is FileState {
  return (
    isFields(value) &&
    isSha256(value['sha256']) &&
    isCount(value['bytes']) &&
    typeof value['mode'] === 'string' &&
    /^[0-7]{4}$/u.test(value['mode'])
  );
}

function isSha256(value: unknown): boolean {
  return typeof value === 'string' && SHA256.test(value);
}
