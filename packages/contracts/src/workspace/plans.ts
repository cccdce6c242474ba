import type { OrionError } from '../errors.ts';
import type { CommitResult } from '../write-session.ts';
import type { PrepareRequest } from './commits.ts';

/** Changes several files as one. */
export interface WorkspacePlans {
  /**
   * Changes several files as one. All changes are prepared before the first is made, and a journal lists them, so that
   * a start after a crash undoes them. Never rejects because of a file: the error is part of its outcome. Rejects with
   * the error of `approve`; nothing has changed then.
   */
  commitPlan(request: PlanCommitRequest): Promise<readonly PlanCommitOutcome[]>;
}

export type PlanCommitRequest = {
  readonly planId: string;
  /** Each for a different file. */
  readonly changes: readonly Omit<PrepareRequest, 'changeId'>[];
  /** Whether to copy each existing file, to the first free name of `<file>.bak`, `<file>.bak.1` … */
  readonly siblingBackups: boolean;
  /** If true and a change fails, the previous changes are undone. */
  readonly atomic: boolean;
  /** Called when everything is prepared and nothing has changed. The changes are made when it resolves. */
  readonly approve?: (prepared: readonly CommitResult[]) => Promise<void>;
};

/** The outcome of one change of a plan. */
export type PlanCommitOutcome =
  | {
      readonly kind: 'done';
      readonly result: CommitResult;
      /** The copy beside the file, relative to the workspace root. */
      readonly sibling?: string;
    }
  | { readonly kind: 'failed'; readonly error: OrionError }
  /** It was made, and undone because a later one failed. */
  | { readonly kind: 'restored' }
  /** It was made and could not be undone: the file was edited since, or the disk reported an error. */
  | {
      readonly kind: 'left';
      readonly result: CommitResult;
      readonly error: OrionError;
      /** The next start tries again, using the plan's journal. */
      readonly willBeRestored: boolean;
    }
  | { readonly kind: 'skipped' };
