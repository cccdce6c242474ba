import type { InsertLocation, ReplaceLocation } from './edit-location.ts';
import type { ErrorInfo } from './errors.ts';
import type { JsonObject } from './json.ts';
import type { ByteSource } from './workspace/commits.ts';
import type { CommitResult, PlanOperationType, WriteReceipt } from './write-session.ts';

/** The bytes of an operation: text, or a source that streams, so that no file is held whole in memory. */
export type PlanContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'bytes'; readonly source: ByteSource };

type OperationOf<Type extends PlanOperationType, Own extends object = object> = {
  readonly type: Type;
  readonly target_file: string;
  readonly content: PlanContent;
} & Own;

export type WritePlanOperation =
  | OperationOf<'create' | 'overwrite'>
  /** `start_on_new_line`: a last line of the file that has no line ending gets one first. */
  | OperationOf<'append', { readonly start_on_new_line?: boolean }>
  | OperationOf<'insert', { readonly location: InsertLocation }>
  | OperationOf<'replace', { readonly location: ReplaceLocation }>
  | OperationOf<'replace_all', { readonly find: string; readonly expected_count?: number }>;

/** What is to be changed, and why. */
export type WritePlan = {
  readonly intent: string;
  readonly operations: readonly WritePlanOperation[];
  /** Nothing is created by an overwrite of a file that is not there. */
  readonly must_exist: boolean;
  /** A copy beside each changed file, as well as the backup that undo restores. */
  readonly backup_required: boolean;
  /** False: files that were changed before an error stay changed. */
  readonly atomic: boolean;
  /** `as-is` switches the adaptation of line endings to those of the file off. */
  readonly eol: 'match' | 'as-is';
};

export type PlanOperationStatus =
  /** A dry run: it can be done. */
  | 'planned'
  | 'done'
  | 'failed'
  /** Done, and taken back because a later file failed. */
  | 'restored'
  /** Not reached, or not judged because an earlier operation on its file failed. */
  | 'skipped';

export type PlanOperationResult = {
  readonly operation_index: number;
  readonly type: string;
  readonly target_file: string;
  readonly status: PlanOperationStatus;
  readonly error: ErrorInfo | null;
  /** What the error's code does not tell: of INVALID_CONTENT `invalid_count`, and in `invalid_contexts` each place. */
  readonly error_details?: JsonObject;
  /** Of the new text as it stands in the file; 0 unless planned or done. */
  readonly bytes: number;
  readonly lines: number;
  /** Places that a `replace_all` changed. */
  readonly occurrences?: number;
  /** The copy beside the file, relative to the workspace root. */
  readonly backup_path?: string;
  /** Lines of the new text, counted from 1, that look as if something was left out. */
  readonly omission_suspected?: readonly number[];
  readonly warnings: readonly string[];
};

/** One file of a plan. Several operations on it are one change. */
export type PlanChange = {
  readonly target_file: string;
  readonly operations: readonly number[];
  readonly status: PlanOperationStatus;
  /** Hash of the bytes before, null when there was no file, and after. Null after: nothing was prepared. */
  readonly before: string | null;
  readonly after: string | null;
  /** What `orion undo` calls this change. */
  readonly backup_id?: string;
  readonly not_kept: readonly string[];
  /** Of a dry run: a unified diff, and whether only its beginning is here. */
  readonly diff?: string;
  readonly diff_cut?: boolean;
  /** Of a dry run: all lines end in CRLF, before and after. */
  readonly crlf?: boolean;
};

/** What was written to one file of a plan; of the same words as a session's receipt. */
export type PlanReceipt = Omit<CommitResult, 'path'> &
  Pick<WriteReceipt, 'target_file' | 'operation'> & { readonly plan_id: string };

/** What came of a plan. Plain JSON, without the content of any file but the diffs of a dry run. */
export type PlanReport = {
  readonly plan_id: string;
  readonly intent: string;
  readonly status: 'planned' | 'done' | 'failed';
  /** The same in words: one sentence or two for each operation, a line each. */
  readonly text: string;
  readonly results: readonly PlanOperationResult[];
  readonly changes: readonly PlanChange[];
  /** One for each file that has changed and stays so. */
  readonly receipts: readonly PlanReceipt[];
  readonly warnings: readonly string[];
};
