import type { Approval, ApprovalDecision, ApprovalState, FileDiff } from '../approvals.ts';

/** `GET /api/approvals` */
export type ApprovalsQuery = {
  readonly state?: ApprovalState;
  readonly projectId?: string;
  readonly turnId?: string;
  readonly limit?: number;
  /** `next` of an earlier answer. */
  readonly before?: string;
};

/** Newest first. */
export type ApprovalsAnswer = {
  readonly approvals: readonly Approval[];
  readonly next: string | null;
};

/** `GET /api/approvals/:id` */
export type ApprovalAnswer = Approval & {
  /** Of a write that waits, file by file; empty for anything else. Null where an earlier version has asked. */
  readonly diffs: readonly FileDiff[];
};

/**
 * `POST /api/approvals/:id`, whose answer is the `Approval` as it is then. APPROVAL_DECIDED if it was decided before,
 * APPROVAL_STALE if `hash` is not that of the action, or the action is not possible any more as it was shown.
 */
export type DecideRequest = {
  readonly decision: ApprovalDecision;
  /** That of the action that was shown. */
  readonly hash: string;
  /** For a no: the model reads it. */
  readonly reason?: string;
};
