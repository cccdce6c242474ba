import type { OrionError } from '../errors.ts';
import type { CommitResult } from '../write-session.ts';
import type { PrepareRequest } from './commits.ts';

/** Changes several files as one. */
export interface WorkspacePlans {
  /**
   * Changes several files as one: all changes are prepared before the first is made, and a journal says which, so
   * that a start after a crash takes them back. Never rejects for a file: its error is its outcome. Rejects with
   * whatever `approve` rejects with; nothing has changed then.
   */
  commitPlan(request: PlanCommitRequest): Promise<readonly PlanCommitOutcome[]>;
}

export type PlanCommitRequest = {
  readonly planId: string;
  /** Each of another file. */
  readonly changes: readonly Omit<PrepareRequest, 'changeId'>[];
  /** A copy beside each file that exists, under the first free name of `<file>.bak`, `<file>.bak.1` … */
  readonly siblingBackups: boolean;
  /** True: when one change fails, those before it are taken back. */
  readonly atomic: boolean;
  /** Called when everything is prepared and nothing has changed; the changes are made when it resolves. */
  readonly approve?: (prepared: readonly CommitResult[]) => Promise<void>;
};

/** What became of one change of a plan. */
export type PlanCommitOutcome =
  | {
      readonly kind: 'done';
      readonly result: CommitResult;
      /** The copy beside the file, relative to the workspace root. */
      readonly sibling?: string;
    }
  | { readonly kind: 'failed'; readonly error: OrionError }
  /** It was made, and taken back because a later one failed. */
  | { readonly kind: 'restored' }
  /** It was made, and could not be taken back: somebody changed the file since, or the disk refused. */
  | {
      readonly kind: 'left';
      readonly result: CommitResult;
      readonly error: OrionError;
      /** The next start tries again, by the plan's journal. */
      readonly willBeRestored: boolean;
    }
  | { readonly kind: 'skipped' };
