/** Confirmation before a change is made: by a person, by a reviewing program, or by a policy. */
import { OrionError } from '@orion/contracts';
import type { WriteOperation } from '@orion/contracts';

import type { PlannedChange } from './plan-changes.ts';
import { requireRunning } from './running.ts';
import { diffOf } from './unified-diff/read-diff.ts';

/** One file that is about to change. Its new bytes lie ready under `after.sha256`; only they can be written. */
export type ChangeProposal = {
  /** Relative to the workspace root. */
  readonly target_file: string;
  /** Absolute, behind any link: the file that really changes. */
  readonly real_path: string;
  readonly operation: WriteOperation;
  readonly before: { readonly bytes: number; readonly sha256: string } | null;
  readonly after: { readonly bytes: number; readonly sha256: string };
  /** All lines end in CRLF, before and after: nobody has to look at each. */
  readonly crlf: boolean;
  /** Lines of a unified diff, made anew each time; text of models and files, as it is. */
  diff(): AsyncIterable<string>;
};

export type ReviewRequest = {
  /** Of the session or plan. */
  readonly id: string;
  readonly intent: string;
  readonly changes: readonly ChangeProposal[];
};

export type ReviewAnswer = { readonly approved: boolean; readonly reason?: string };

/**
 * Says yes or no to what is about to change. Called when everything lies ready and nothing has changed. Nothing
 * changes without a yes, and a rejection is no yes.
 */
export type ChangeReviewer = (request: ReviewRequest, signal: AbortSignal) => Promise<ReviewAnswer>;

/** `never` refuses every change: at begin, so that nothing is streamed for nothing, and again at commit. */
export type ApprovalPolicy =
  | { readonly kind: 'auto' }
  | { readonly kind: 'ask'; readonly review: ChangeReviewer }
  | { readonly kind: 'never' };

/** Rejects with APPROVAL_REFUSED unless the answer is a yes, and with the signal's reason. */
export async function requireApproval(
  policy: ApprovalPolicy,
  request: ReviewRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  if (policy.kind === 'auto') return;
  if (policy.kind === 'never') throw neverApproved();
  let answer: ReviewAnswer;
  try {
    answer = await policy.review(request, signal);
  } catch (error) {
    if (!signal.aborted) throw notReviewed(error);
    answer = { approved: false };
  }
  requireRunning(signal);
  if (answer.approved) return;
  throw new OrionError({
    code: 'APPROVAL_REFUSED',
    message: answer.reason ?? 'The change was not approved.',
  });
}

function notReviewed(cause: unknown): OrionError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new OrionError({
    code: 'APPROVAL_REFUSED',
    message: `The reviewer failed, and that is no yes: ${why}`,
    cause,
  });
}

export function neverApproved(): OrionError {
  return new OrionError({
    code: 'APPROVAL_REFUSED',
    message: 'No change is approved here (--approve never).',
  });
}

/** `after`: the hash under which the new bytes lie ready. */
export function proposalOf(change: PlannedChange, after: string): ChangeProposal {
  const { expected, state, operation, crlf } = change;
  return {
    target_file: expected.path,
    real_path: expected.realPath,
    operation,
    before: expected.sha256 === null ? null : { bytes: expected.bytes, sha256: expected.sha256 },
    after: { bytes: state.image.bytes, sha256: after },
    crlf,
    diff: () => diffOf(change),
  };
}
