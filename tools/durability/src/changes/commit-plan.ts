import type { PlanCommitRequest, Workspace } from '@orion/contracts';

/** Commits a plan, or rejects with the error of its first file that was not written. */
export async function commitPlan(workspace: Workspace, request: PlanCommitRequest): Promise<void> {
  for (const outcome of await workspace.commitPlan(request)) {
    if (outcome.kind === 'failed' || outcome.kind === 'left') throw outcome.error;
  }
}
