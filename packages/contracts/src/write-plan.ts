import type { ByteSource } from './workspace.ts';
import type { TargetSnapshot, WriteOperation } from './write-session.ts';

/** The bytes of an operation: text, or a source that streams, so that no file is held whole in memory. */
export type PlanContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'bytes'; readonly source: ByteSource };

export type WritePlanOperation = {
  readonly type: WriteOperation;
  readonly target_file: string;
  readonly content: PlanContent;
};

/** What is to be changed, and why. */
export type WritePlan = {
  readonly intent: string;
  readonly operations: readonly [WritePlanOperation];
  /** The target when the work began. */
  readonly expected: TargetSnapshot;
  /** What undo takes back together: the session's or the plan's id. */
  readonly changeId: string;
  /** `as-is` switches the conversion of line endings off. */
  readonly eol: 'match' | 'as-is';
};
