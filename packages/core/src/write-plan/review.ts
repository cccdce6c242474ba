/** Approval of a change before it is made: by a person, by a program, or by a policy. */
import { OrionError } from '@orion/contracts';
import type { ProposedChange } from '@orion/contracts';

import type { PlannedChange } from './plan-changes.ts';
import { requireRunning } from './running.ts';
import { diffOf } from './unified-diff/read-diff.ts';

/** One file that is about to change. Its new bytes are ready, with the hash `after.sha256`; only they can be written. */
export type ChangeProposal = ProposedChange & {
  /** The lines of a unified diff, computed on each call. The text comes from models and files and is not escaped. */
  diff(): AsyncIterable<string>;
};

export type ReviewRequest = {
  /** The id of the session or plan. */
  readonly id: string;
  readonly intent: string;
  readonly changes: readonly ChangeProposal[];
};

/**
 * The reason for a no is passed on to the model. `stale`: it is no answer to this change, since something else would
 * happen now; it is made and asked about again.
 */
export type ReviewAnswer = {
  readonly approved: boolean;
  readonly reason?: string;
  readonly stale?: true;
  /** The yes covers what else the turn writes; the reviewer gives it without asking. */
  readonly forTurn?: true;
};

/**
 * Approves or refuses a change. Called when the new bytes are ready and nothing has changed. Without approval nothing
 * changes; a promise that rejects does not approve. `signal` is the same object for all changes of a turn.
 */
export type ChangeReviewer = (request: ReviewRequest, signal: AbortSignal) => Promise<ReviewAnswer>;

/** `never` refuses every change: at begin, so that no text is streamed in vain, and again at commit. */
export type ApprovalPolicy =
  | { readonly kind: 'auto' }
  | { readonly kind: 'ask'; readonly review: ChangeReviewer }
  | { readonly kind: 'never' };

/** Rejects with APPROVAL_REFUSED unless the change is approved, and with ABORTED. */
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
    code: answer.stale === true ? 'APPROVAL_STALE' : 'APPROVAL_REFUSED',
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

/** `after`: the hash of the new bytes. */
export function proposalOf(change: PlannedChange, after: string): ChangeProposal {
  const { expected, state, operation, crlf } = change;
  return {
    target_file: expected.path,
    real_path: expected.realPath,
    operation,
    before: expected.sha256 === null ? null : { bytes: expected.bytes, sha256: expected.sha256 },
    after: { bytes: state.image.bytes, sha256: after },
    crlf,
    protected: (expected.allowed?.paths ?? []).length > 0,
    hard_link: expected.allowed?.hardLink === true,
    diff: () => diffOf(change),
  };
}
