import type { InvalidPlace } from '../validation.ts';
import type { Seam, WriteOperation, WriteReceipt } from '../write-session.ts';

/** `POST /api/write-sessions`. What the text is arrives later, as bytes. */
export type BeginUpload = {
  readonly intent: string;
  /** Relative to the workspace root. */
  readonly target_file: string;
  readonly operation: WriteOperation;
  /** For insert `{marker, position}`; for replace `{start_marker, end_marker, include_markers?}`. */
  readonly location?: { readonly [field: string]: unknown };
  /** False: a line ending at the end of the bytes is left out of the file. True when left out. */
  readonly final_newline?: boolean;
  /** For append: a last line without a line ending gets one first. False when left out. */
  readonly start_on_new_line?: boolean;
};

export type BeginUploadRequest = BeginUpload & {
  /** A label; the server's own when left out. */
  readonly projectId?: string;
};

/**
 * `open`: takes bytes. `finalizing`: a process ended while it wrote the file; finalizing the session settles what came of
 * it. `paused`: `code` says what has to be decided first. `in_use`: by a turn, another request or another process.
 * `discarded`: kept for a while, where only `recover` finds it.
 */
export type UploadStatus =
  | 'open'
  | 'needs_corrections'
  | 'finalizing'
  | 'paused'
  | 'in_use'
  | 'discarded'
  | 'damaged'
  | 'foreign';

/** A write session that is not done. */
export type OpenUpload = {
  readonly session_id: string;
  readonly status: UploadStatus;
  /** False: a model writes it. Its text can be read, recovered and discarded here, but not uploaded. */
  readonly uploaded: boolean;
  readonly target_file: string | null;
  readonly operation: WriteOperation | null;
  readonly intent: string | null;
  /** Bytes that have arrived: the offset of the next upload. */
  readonly bytes: number;
  /** Of these, what survives a crash. Fewer only while an upload is under way, and where the disk failed (507). */
  readonly saved_bytes: number;
  readonly lines: number;
  /** Where a model's text was joined, as far as it is saved. */
  readonly seams: readonly Seam[];
  /** When it was taken over from another process or an earlier turn, as far as that is saved: the last time. */
  readonly recovered_at?: string;
  /** Milliseconds since the last activity. */
  readonly age_ms: number;
  readonly code?: string;
};

/** A write session whose file is written. */
export type WrittenUpload = {
  readonly session_id: string;
  readonly status: 'done';
  readonly target_file: string;
  readonly operation: WriteOperation;
  /** Of the whole file, as it was written. */
  readonly sha256: string;
  /** Null where only the undo history knows of it, as after a restart. */
  readonly receipt: WriteReceipt | null;
};

/** The places of a text that are not valid, as an error INVALID_CONTENT has them in its details. */
export type UploadCorrections = {
  readonly session_id: string;
  readonly status: 'needs_corrections';
  readonly target_file: string;
  /** The first of them; the others follow once these are corrected. */
  readonly invalid_contexts: readonly InvalidPlace[];
  readonly invalid_count: number;
  /** Counted from 1. After the last round, what is still invalid becomes U+FFFD. */
  readonly attempt: number;
  readonly max_attempts: number;
};

/** `GET /api/write-sessions/:id`. */
export type UploadAnswer = OpenUpload | WrittenUpload;

/** `GET /api/write-sessions`, newest first. */
export type UploadsAnswer = {
  readonly sessions: readonly OpenUpload[];
  /** How many there are, those included that are not in the answer. */
  readonly total: number;
};

/** `POST /api/write-sessions/:id/finalize`. */
export type FinalizeUpload = {
  /** The size of the whole text: nothing is written unless exactly that is stored. */
  readonly bytes?: number;
  /** For create: the file may be empty. */
  readonly allowEmpty?: boolean;
};

/** `POST /api/write-sessions/:id/corrections`. */
export type CorrectUpload = {
  /** One for a place that is to be corrected; those that are left out stay as they are until the last round. */
  readonly corrections: readonly { readonly index: number; readonly text: string }[];
};

/** `POST /api/write-sessions/:id/recover`. */
export type RecoverUpload = {
  /** Writes what is saved. Without it the session is only taken over, and the answer says where an upload continues. */
  readonly finalize?: boolean;
  /** What to do when the file was changed since the session began. */
  readonly onConflict?: 'overwrite' | 'keep-both';
  /** Of a session that a model writes: the file ends before this line, counted from 1. */
  readonly endAt?: number;
  /** Of a session that a model writes: answers its open question. */
  readonly answer?: 'keep' | 'strip' | 'done' | 'drop';
};

/** `DELETE /api/write-sessions/:id`. */
export type DiscardedUpload = {
  readonly session_id: string;
  readonly status: 'discarded';
  /** The folder that still has the text. */
  readonly attic: string;
};

/** `GET /api/write-sessions/:id/diff`. */
export type UploadDiff = {
  readonly session_id: string;
  readonly target_file: string;
  /** A unified diff of the target and what it would become; empty if nothing would change. */
  readonly diff: string;
  /** It goes on. */
  readonly truncated: boolean;
};
