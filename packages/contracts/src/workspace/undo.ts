import type { WriteOperation } from '../write-session.ts';

/** The changes that were made, and taking them back. */
export interface WorkspaceUndo {
  /** The changes that can be taken back, newest first. */
  listChanges(): Promise<readonly RecordedChange[]>;
  /**
   * Gives every file of a change its previous bytes back; a file that the change made is removed. The bytes that are
   * replaced are kept, so that an undo can be undone. Files that have their previous bytes already are left alone.
   *
   * Rejects with CHANGE_NOT_FOUND, BACKUP_FOREIGN, BACKUP_DAMAGED, TARGET_CHANGED (edited since, unless forced),
   * TARGET_LOCKED, and as `checkTarget` does; every file is checked before the first one changes. When the disk
   * refuses one in the middle, `details.undone` names those that are done, and the same call goes on with the rest.
   */
  undo(request: UndoRequest): Promise<UndoReport>;
}

export type UndoRequest = {
  /** A change's id, or the backup id of one of its files; the latest change that is in effect when left out. */
  readonly id?: string;
  /** Also a file that was edited since (that version is kept, too), and a change that was recorded elsewhere. */
  readonly force?: boolean;
};

/** Everything that one session or plan changed, or one undo. */
export type RecordedChange = {
  readonly change_id: string;
  /** ISO-8601, UTC; of its last file. */
  readonly created_at: string;
  readonly status: 'in_effect' | 'undone';
  /** The changes that this one took back; empty for anything but an undo. */
  readonly undoes: readonly string[];
  /** Not recorded by this user here, but come with the folder. */
  readonly foreign: boolean;
  readonly files: readonly RecordedFile[];
};

export type RecordedFile = {
  readonly backup_id: string;
  /** Relative to the workspace root, behind any link. */
  readonly target_file: string;
  readonly operation: WriteOperation | 'undo';
  readonly undone: boolean;
  /** What undo puts back; null: there was no file. */
  readonly before: {
    readonly sha256: string;
    readonly bytes: number;
    readonly mode: string;
  } | null;
  /** What has to stand there for it; null: the file was removed. */
  readonly after: { readonly sha256: string } | null;
};

export type UndoneFile = {
  readonly target_file: string;
  readonly outcome: 'restored' | 'removed' | 'unchanged';
  /** Of the file as it is now; null when there is none. */
  readonly sha256: string | null;
  readonly bytes: number;
  /** Where the bytes are that were replaced. */
  readonly backup_id?: string;
  readonly warnings: readonly string[];
  readonly not_kept: readonly string[];
};

export type UndoReport = {
  readonly change_id: string;
  /** Undo this to have the change again; missing when nothing had to be done. */
  readonly undo_id?: string;
  readonly files: readonly UndoneFile[];
};
