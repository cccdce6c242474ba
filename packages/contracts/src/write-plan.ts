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
  /** `start_on_new_line`: an unterminated last line of the file gets a line ending first. */
  | OperationOf<'append', { readonly start_on_new_line?: boolean }>
  | OperationOf<'insert', { readonly location: InsertLocation }>
  | OperationOf<'replace', { readonly location: ReplaceLocation }>
  | OperationOf<'replace_all', { readonly find: string; readonly expected_count?: number }>;

/** The changes to make, and their purpose. */
export type WritePlan = {
  readonly intent: string;
  readonly operations: readonly WritePlanOperation[];
  /** An overwrite does not create a missing file. */
  readonly must_exist: boolean;
  /** A copy beside each changed file, as well as the backup that undo restores. */
  readonly backup_required: boolean;
  /** False: files that were changed before an error stay changed. */
  readonly atomic: boolean;
  /** `as-is` turns off the adaptation of line endings to those of the file. */
  readonly eol: 'match' | 'as-is';
};

export type PlanOperationStatus =
  /** In a dry run: the operation is possible. */
  | 'planned'
  | 'done'
  | 'failed'
  /** Done, then reverted because a later file failed. */
  | 'restored'
  /** Not reached, or not judged because an earlier operation on its file failed. */
  | 'skipped';

export type PlanOperationResult = {
  readonly operation_index: number;
  readonly type: string;
  readonly target_file: string;
  readonly status: PlanOperationStatus;
  readonly error: ErrorInfo | null;
  /** Details of the error. For INVALID_CONTENT: `invalid_count`, and each place in `invalid_contexts`. */
  readonly error_details?: JsonObject;
  /** Size of the new text in the file; 0 unless planned or done. */
  readonly bytes: number;
  readonly lines: number;
  /** Places that a `replace_all` changed. */
  readonly occurrences?: number;
  /** The copy beside the file, relative to the workspace root. */
  readonly backup_path?: string;
  /** Lines of the new text, counted from 1, that look like placeholders for omitted text. */
  readonly omission_suspected?: readonly number[];
  readonly warnings: readonly string[];
};

/** One file of a plan. Several operations on it are one change. */
export type PlanChange = {
  readonly target_file: string;
  readonly operations: readonly number[];
  readonly status: PlanOperationStatus;
  /** SHA-256 of the file before (null if there was no file) and after (null if nothing was prepared). */
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

/** What was written to one file of a plan, in the terms of a session's receipt. */
export type PlanReceipt = Omit<CommitResult, 'path'> &
  Pick<WriteReceipt, 'target_file' | 'operation'> & { readonly plan_id: string };

/** The result of a plan. Plain JSON, without file content except for the diffs of a dry run. */
export type PlanReport = {
  readonly plan_id: string;
  readonly intent: string;
  readonly status: 'planned' | 'done' | 'failed';
  /** The same as text: one line for each operation. */
  readonly text: string;
  readonly results: readonly PlanOperationResult[];
  readonly changes: readonly PlanChange[];
  /** One for each file that was changed and not restored. */
  readonly receipts: readonly PlanReceipt[];
  readonly warnings: readonly string[];
};
