import type { WriteOperation } from '../write-session.ts';

/** Lists and undoes changes. */
export interface WorkspaceUndo {
  /** The changes that can be undone, newest first. They are read as they are asked for. */
  changes(): AsyncIterable<RecordedChange>;
  /**
   * The file of a change, or the last one of several; null if no change with this id is kept. Takes no longer the more
   * changes there are, but for a list of their names.
   */
  findChangedFile(changeId: string): Promise<Omit<RecordedFile, 'undone'> | null>;
  /**
   * Restores the previous bytes of every file of a change. Removes files that the change created. Keeps the bytes that
   * it replaces, so an undo can be undone. Skips files that already have their previous bytes.
   *
   * Rejects with CHANGE_NOT_FOUND, BACKUP_FOREIGN, BACKUP_DAMAGED, TARGET_CHANGED (edited since, unless forced),
   * TARGET_LOCKED, and like `checkTarget`. Every file is checked before the first one changes. If the disk fails in the
   * middle, `details.undone` lists the completed files, and the same call continues with the rest.
   */
  undo(request: UndoRequest): Promise<UndoReport>;
  /** The bytes that a file has, or had before a change, by their hash; null if nothing keeps them. */
  readVersion(path: string, sha256: string): Promise<FileVersion | null>;
}

export type FileVersion = { readonly bytes: number; read(): AsyncIterable<Uint8Array> };

export type UndoRequest = {
  /** The id of a change, or the backup id of one of its files; by default the latest change in effect. */
  readonly id?: string;
  /** Also undo a file that was edited since (keeping that version, too) and a change recorded elsewhere. */
  readonly force?: boolean;
};

/** All changes of one session, plan or undo. */
export type RecordedChange = {
  readonly change_id: string;
  /** Time of its last file; ISO-8601, UTC. */
  readonly created_at: string;
  readonly status: 'in_effect' | 'undone';
  /** The changes that this one undid; empty for anything but an undo. */
  readonly undoes: readonly string[];
  /** Not recorded here by this user, but came with the folder. */
  readonly foreign: boolean;
  readonly files: readonly RecordedFile[];
};

export type RecordedFile = {
  readonly backup_id: string;
  /** Relative to the workspace root, with links resolved. */
  readonly target_file: string;
  readonly operation: WriteOperation | 'undo';
  readonly undone: boolean;
  /** The state that undo restores; null if there was no file. */
  readonly before: {
    readonly sha256: string;
    readonly bytes: number;
    readonly mode: string;
  } | null;
  /** The state that undo expects; null if the file was removed. */
  readonly after: { readonly sha256: string } | null;
};

export type UndoneFile = {
  readonly target_file: string;
  readonly outcome: 'restored' | 'removed' | 'unchanged';
  /** The hash of the current file; null if there is none. */
  readonly sha256: string | null;
  readonly bytes: number;
  /** The backup of the bytes that were replaced. */
  readonly backup_id?: string;
  readonly warnings: readonly string[];
  readonly not_kept: readonly string[];
};

export type UndoReport = {
  readonly change_id: string;
  /** Undo this id to restore the change. Missing if nothing had to be done. */
  readonly undo_id?: string;
  readonly files: readonly UndoneFile[];
};
