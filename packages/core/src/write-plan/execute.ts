/**
 * Runs a write plan: checks all of it, asks for approval if necessary, then writes all of it.
 *
 * X1. Nothing changes unless every operation is possible.
 * X2. What was approved is what is written: approval is asked for when the new bytes are ready and their hash is known.
 * X3. An operation that fails is a result; the promise does not reject.
 */
import { OrionError } from '@orion/contracts';
import type {
  PatternMatcher,
  PlanCommitOutcome,
  PlanReport,
  PrepareRequest,
  Workspace,
  WritePlan,
} from '@orion/contracts';

import { partsOf } from './file-image.ts';
import { Pace } from './pace.ts';
import type { NextTurn } from './pace.ts';
import type { ParsedOperation } from './parse-plan.ts';
import { planChanges } from './plan-changes.ts';
import type { PlannedChange } from './plan-changes.ts';
import { reportOf } from './report.ts';
import type { FileOutcome } from './report.ts';
import { proposalOf, requireApproval } from './review.ts';
import type { ApprovalPolicy } from './review.ts';
import { requireRunning } from './running.ts';
import { omissionsIn } from './suspect-omissions.ts';
import { readDiff } from './unified-diff/read-diff.ts';

export type PlanPorts = {
  readonly workspace: Pick<
    Workspace,
    'checkTarget' | 'readTarget' | 'commitPlan' | 'maxTargetBytes'
  >;
  readonly patterns: PatternMatcher;
  readonly nextTurn: NextTurn;
};

export type PlanExecution = {
  readonly planId: string;
  /** Operations that could not be parsed are among them, with their errors. */
  readonly operations: readonly ParsedOperation[];
  readonly plan: Omit<WritePlan, 'operations'>;
  readonly dryRun: boolean;
  readonly approval: ApprovalPolicy;
  readonly signal: AbortSignal | null;
  readonly warnings: readonly string[];
  /** Called once, when all operations are checked and nothing has changed. */
  readonly validated: (files: number, refused: number) => void;
};

/** Limits for the diffs of a dry run, in characters: for one file, and for all files. */
const MAX_DIFF: number = 1024 * 1024;
const MAX_ALL_DIFFS: number = 16 * MAX_DIFF;

/** Rejects only with ABORTED and for bugs. */
export async function executeWritePlan(
  execution: PlanExecution,
  ports: PlanPorts,
): Promise<PlanReport> {
  const { planId, plan, operations, warnings, signal } = execution;
  requireRunning(signal);
  const pace = new Pace(signal, ports.nextTurn);
  const { changes, verdicts } = await planChanges(plan, operations, { ...ports, pace });
  const facts = { planId, intent: plan.intent, verdicts, warnings };

  const refused = verdicts.filter(({ kind }) => kind !== 'planned').length;
  execution.validated(changes.length, refused);
  if (refused > 0) {
    return reportOf({ ...facts, status: 'failed', files: [], omissions: new Map() });
  }
  requireRunning(signal);
  // R249: a warning, never a refusal.
  const omissions = await omissionsIn(operations, changes, ports.workspace);
  if (execution.dryRun) {
    const files = await withDiffs(changes, signal);
    return reportOf({ ...facts, status: 'planned', files, omissions });
  }
  const outcomes = await commitChanges(execution, changes, ports, pace);
  const failed = outcomes.some(({ kind }) => kind !== 'done');
  const files = changes.map((change, index) => ({
    change,
    outcome: outcomes[index] ?? ({ kind: 'skipped' } as const),
  }));
  return reportOf({ ...facts, status: failed ? 'failed' : 'done', files, omissions });
}

async function withDiffs(
  changes: readonly PlannedChange[],
  signal: AbortSignal | null,
): Promise<readonly FileOutcome[]> {
  const files: FileOutcome[] = [];
  let left = MAX_ALL_DIFFS;
  for (const change of changes) {
    const { text: diff, cut } = await readDiff(change, Math.min(MAX_DIFF, left), signal);
    left -= diff.length;
    files.push({ change, outcome: { kind: 'planned', diff, cut } });
  }
  return files;
}

/** How often approval is asked for if a file changes between the approval and the write. */
export const MAX_REVIEWS = 3;

/** B18. Asks again only if nothing has changed, or everything was restored. */
async function commitChanges(
  execution: PlanExecution,
  changes: readonly PlannedChange[],
  ports: PlanPorts,
  pace: Pace,
): Promise<readonly PlanCommitOutcome[]> {
  for (let review = 1; ; review += 1) {
    const outcomes = await commitOnce(execution, changes, ports, pace);
    const isStale = outcomes.some(
      (outcome) => outcome.kind === 'failed' && outcome.error.code === 'APPROVAL_STALE',
    );
    const isUndone = outcomes.every(({ kind }) => kind !== 'done' && kind !== 'left');
    if (!isStale || !isUndone || review === MAX_REVIEWS) return outcomes;
  }
}

async function commitOnce(
  execution: PlanExecution,
  changes: readonly PlannedChange[],
  { workspace }: PlanPorts,
  pace: Pace,
): Promise<readonly PlanCommitOutcome[]> {
  const { planId, plan, approval, signal } = execution;
  const isReviewed = approval.kind === 'ask';
  try {
    const outcomes = await workspace.commitPlan({
      planId,
      changes: changes.map((change) => ({
        ...requestOf(change, pace),
        ...(isReviewed ? { reviewed: true } : {}),
      })),
      siblingBackups: plan.backup_required,
      atomic: plan.atomic,
      approve: (prepared) => {
        const proposals = prepared.flatMap((result, index) => {
          const change = changes[index];
          return change === undefined ? [] : [proposalOf(change, result.sha256)];
        });
        const request = { id: planId, intent: plan.intent, changes: proposals };
        return requireApproval(approval, request, signal ?? undefined);
      },
    });
    // Cancelled while the new bytes were prepared, before anything changed.
    for (const outcome of outcomes) {
      if (outcome.kind === 'failed' && outcome.error.code === 'ABORTED') throw outcome.error;
    }
    return outcomes;
  } catch (error) {
    if (!OrionError.isInstance(error) || error.code !== 'APPROVAL_REFUSED') throw error;
    return changes.map(() => ({ kind: 'failed', error }));
  }
}

/** The planner has already converted the line endings of the text. */
export function requestOf(
  change: PlannedChange,
  pace: Pace | null = null,
): Omit<PrepareRequest, 'changeId'> {
  return {
    target: change.expected.path,
    operation: change.operation,
    parts: partsOf(change.state.image, change.state.readBase).map((part) =>
      part.kind === 'new' && pace !== null ? { ...part, source: pace.of(part.source) } : part,
    ),
    eol: 'as-is',
    expected: change.expected,
  };
}
