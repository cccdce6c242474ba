import type { FileDiff } from '../approvals.ts';
import type { RecordedChange } from '../workspace/undo.ts';

/** `GET /api/changes` */
export type ChangesQuery = {
  readonly projectId?: string;
  readonly limit?: number;
  /** `next` of an earlier answer. */
  readonly before?: string;
};

/** What can be undone, newest first. */
export type ChangesAnswer = {
  readonly changes: readonly RecordedChange[];
  readonly next: string | null;
};

/** `GET /api/changes/:id/diff`: what the change did, file by file, a file that it touched twice twice. */
export type ChangeDiffAnswer = {
  /** The diff is null where the bytes before or after it are gone. */
  readonly files: readonly FileDiff[];
};

/** `POST /api/changes/:id/undo`, whose answer is an `UndoReport`. */
export type UndoChangeRequest = {
  readonly projectId?: string;
  /** Also a file that was edited since, whose present version is kept, and a change that came with the folder. */
  readonly force?: boolean;
};
