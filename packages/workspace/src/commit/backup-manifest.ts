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
import { isBackupId } from './backup-id.ts';

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
  /** Relative to the workspace root: the file whose bytes have become the target once it is gone. */
  readonly temporary?: string;
};

export type FileState = { readonly sha256: string; readonly bytes: number; readonly mode: string };

const isHash = matching(/^[0-9a-f]{64}$/u);

const MANIFEST: Shape<BackupManifest> = {
  version: oneOf(1),
  id: isText,
  root: optional(isText),
  path: (value) => isText(value) && value !== '',
  operation: oneOf('undo', ...WRITE_OPERATIONS),
  created_at: isTime,
  change_id: optional(isText),
  undoes: optional(listOf((id) => typeof id === 'string' && isBackupId(id))),
  before: orNull(
    shaped<FileState>({ sha256: isHash, bytes: isCount, mode: matching(/^[0-7]{4}$/u) }),
  ),
  after: orNull(shaped<Pick<FileState, 'sha256'>>({ sha256: isHash })),
  temporary: optional(isText),
};

export function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, '0');
}

/** Null unless the text is the complete manifest of this backup. */
export function parseManifest(text: string, id: string): BackupManifest | null {
  const fields = parseFields(text);
  if (!hasShape(fields, MANIFEST) || fields.id !== id) return null;
  const { root, path, operation, created_at, change_id, undoes, before, after, temporary } = fields;
  return {
    version: 1,
    id,
    path,
    operation,
    created_at,
    ...defined({ root, change_id, undoes }),
    before,
    after: after === null ? null : { sha256: after.sha256 },
    ...defined({ temporary }),
  };
}
