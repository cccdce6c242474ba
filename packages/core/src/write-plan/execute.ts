/**
 * Runs a write plan: all of it is judged, then somebody may agree to it, then all of it is written.
 *
 * X1. Nothing changes unless every operation can be done.
 * X2. What is agreed to is what is written: the question is put when the new bytes lie ready, under their hash.
 * X3. A failing operation is a result, not a rejection.
 */
import { OrionError } from '@orion/contracts';
import type {
  PatternMatcher,
  PlanCommitOutcome,
  PlanReport,
  PrepareRequest,
  TargetSnapshot,
  Workspace,
  WritePlan,
} from '@orion/contracts';

import { partsOf } from './file-image.ts';
import { Pace } from './pace.ts';
import type { NextTurn } from './pace.ts';
import type { ParsedOperation } from './parse-plan.ts';
import { planChanges } from './plan-changes.ts';
import type {
  PlannedChange,
  PlannedChanges,
  PlanningPorts,
  ToldEdit,
  Verdict,
} from './plan-changes.ts';
import { reportOf, RESTORED_AT_NEXT_START } from './report.ts';
import type { ChangeOutcome, OperationOutcome } from './report.ts';
import { proposalOf, requireApproval } from './review.ts';
import type { ApprovalPolicy } from './review.ts';
import { requireRunning } from './running.ts';
import { omissionSuspicion } from './suspect-omissions.ts';
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
  /** What is wrong with single operations was found when they were read. */
  readonly operations: readonly ParsedOperation[];
  readonly plan: Omit<WritePlan, 'operations'>;
  readonly dryRun: boolean;
  readonly approval: ApprovalPolicy;
  readonly signal: AbortSignal | null;
  readonly warnings: readonly string[];
  /** Called once, when all operations are judged and nothing has changed. */
  readonly validated: (files: number, refused: number) => void;
};

/** Diffs of a dry run are cut at these sizes, in characters: of a file, and of all together. */
const MAX_DIFF: number = 1024 * 1024;
const MAX_ALL_DIFFS: number = 16 * MAX_DIFF;

/** Rejects for defects only, and with ABORTED. */
export async function executeWritePlan(
  execution: PlanExecution,
  ports: PlanPorts,
): Promise<PlanReport> {
  const { planId, plan, operations, warnings } = execution;
  requireRunning(execution.signal);
  const pace = new Pace(execution.signal, ports.nextTurn);
  const planned = await planValid(execution, { ...ports, pace });
  const verdicts = spread(operations, planned.verdicts);
  const tell = (
    status: PlanReport['status'],
    outcomes: readonly OperationOutcome[],
    changes: readonly ChangeOutcome[],
  ): PlanReport =>
    reportOf({ planId, intent: plan.intent, status, operations: outcomes, changes, warnings });

  const refused = verdicts.filter(({ verdict }) => verdict.kind !== 'planned').length;
  execution.validated(planned.changes.length, refused);
  if (refused > 0) {
    return tell('failed', verdicts.map(refusedOutcome), []);
  }
  requireRunning(execution.signal);
  const judged = await withOmissions(execution, verdicts, planned.changes, ports);
  if (execution.dryRun) {
    return tell(
      'planned',
      judged.map((each) => plannedOutcome(each, 'planned')),
      await withDiffs(planned.changes, execution.signal),
    );
  }
  const outcomes = await commitChanges(execution, planned.changes, ports, pace);
  const failed = outcomes.some(({ kind }) => kind !== 'done');
  const outcomeOf = new Map(
    planned.changes.flatMap(({ operations }, place) =>
      operations.map((index) => [index, outcomes[place]] as const),
    ),
  );
  return tell(
    failed ? 'failed' : 'done',
    judged.map((each, index) => committedOutcome(each, outcomeOf.get(index))),
    planned.changes.map((change, index) => changeOutcome(change, outcomes[index])),
  );
}

type Judged = {
  readonly type: string;
  readonly target_file: string;
  readonly verdict: Verdict;
  /** Missing where nothing is suspected. */
  readonly omissions?: readonly number[];
};

/** R249: a warning, never a refusal. */
async function withOmissions(
  { operations }: PlanExecution,
  verdicts: readonly Judged[],
  changes: readonly PlannedChange[],
  { workspace }: PlanPorts,
): Promise<readonly Judged[]> {
  const suspicions = new Map(
    changes.flatMap((change) => {
      const suspicion = omissionSuspicion(change, workspace);
      return change.operations.map((index) => [index, suspicion] as const);
    }),
  );
  const judged: Judged[] = [];
  for (const [index, each] of verdicts.entries()) {
    const parsed = operations[index];
    const omissions =
      parsed?.kind === 'operation' ? ((await suspicions.get(index)?.(parsed.operation)) ?? []) : [];
    judged.push(omissions.length === 0 ? each : { ...each, omissions });
  }
  return judged;
}

function planValid(execution: PlanExecution, ports: PlanningPorts): Promise<PlannedChanges> {
  const valid = execution.operations.flatMap((parsed) =>
    parsed.kind === 'operation' ? [parsed.operation] : [],
  );
  return planChanges({ ...execution.plan, operations: valid }, ports);
}

/** The verdicts stand for the operations that could be read; the others are refused as they are. */
function spread(operations: readonly ParsedOperation[], verdicts: readonly Verdict[]): Judged[] {
  const remaining = [...verdicts];
  return operations.map((parsed) => {
    if (parsed.kind === 'invalid') {
      const { type, target_file, error } = parsed;
      return { type, target_file, verdict: { kind: 'refused', path: target_file, error } };
    }
    const verdict = remaining.shift();
    if (verdict === undefined) throw new Error('an operation was not judged');
    return { type: parsed.operation.type, target_file: verdict.path, verdict };
  });
}

async function withDiffs(
  changes: readonly PlannedChange[],
  signal: AbortSignal | null,
): Promise<readonly ChangeOutcome[]> {
  const outcomes: ChangeOutcome[] = [];
  let left = MAX_ALL_DIFFS;
  for (const change of changes) {
    const { text, cut } = await readDiff(change, Math.min(MAX_DIFF, left), signal);
    left -= text.length;
    outcomes.push({
      target_file: change.expected.path,
      operations: change.operations,
      operation: change.operation,
      status: 'planned',
      before: change.expected.sha256,
      commit: null,
      diff: text,
      diffCut: cut,
      crlf: change.crlf,
    });
  }
  return outcomes;
}

/** How often somebody is asked anew where what was approved was changed before it was written. */
export const MAX_REVIEWS = 3;

/** B18. Asked anew only while nothing has changed, or all of it was taken back. */
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
    // Called off while the new bytes were made, before anything changed.
    for (const outcome of outcomes) {
      if (outcome.kind === 'failed' && outcome.error.code === 'ABORTED') throw outcome.error;
    }
    return outcomes;
  } catch (error) {
    if (!OrionError.isInstance(error) || error.code !== 'APPROVAL_REFUSED') throw error;
    return changes.map(() => ({ kind: 'failed', error }));
  }
}

/** The planner has given the text the file's line endings already. */
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

function plannedOutcome(
  { type, target_file, verdict, omissions }: Judged,
  status: OperationOutcome['status'],
): OperationOutcome {
  if (verdict.kind !== 'planned') throw new Error('an operation that was refused is not planned');
  const { bytes, lines, occurrences, warnings } = verdict.edit;
  return {
    type,
    target_file,
    status,
    error: null,
    bytes,
    lines,
    ...(occurrences === undefined ? {} : { occurrences }),
    ...(omissions === undefined ? {} : { omissions }),
    warnings: omissions === undefined ? warnings : [...warnings, 'omission_suspected'],
  };
}

function refusedOutcome({ type, target_file, verdict }: Judged): OperationOutcome {
  const error = verdict.kind === 'refused' ? verdict.error : null;
  return {
    type,
    target_file,
    status: error === null ? 'skipped' : 'failed',
    error,
    bytes: 0,
    lines: 0,
    warnings: [],
  };
}

function committedOutcome(
  judged: Judged,
  outcome: PlanCommitOutcome | undefined,
): OperationOutcome {
  const { type, target_file } = judged;
  const nothing = { type, target_file, error: null, bytes: 0, lines: 0, warnings: [] };
  switch (outcome?.kind) {
    case 'done': {
      const done = plannedOutcome(judged, 'done');
      return outcome.sibling === undefined ? done : { ...done, sibling: outcome.sibling };
    }
    case 'left':
      return {
        ...plannedOutcome(judged, 'done'),
        error: outcome.error,
        ...(outcome.willBeRestored ? { warnings: [RESTORED_AT_NEXT_START] } : {}),
      };
    case 'failed':
      return { ...nothing, status: 'failed', error: outcome.error };
    case 'restored':
      return { ...nothing, status: 'restored' };
    case 'skipped':
    case undefined:
      return { ...nothing, status: 'skipped' };
    default:
      return outcome satisfies never;
  }
}

function changeOutcome(
  change: PlannedChange,
  outcome: PlanCommitOutcome | undefined,
): ChangeOutcome {
  const kind = outcome?.kind ?? 'skipped';
  return {
    target_file: change.expected.path,
    operations: change.operations,
    operation: change.operation,
    status: kind === 'left' ? 'done' : kind,
    before: change.expected.sha256,
    commit: outcome?.kind === 'done' || outcome?.kind === 'left' ? outcome.result : null,
    ...(outcome?.kind === 'left' && outcome.willBeRestored ? { willBeRestored: true } : {}),
  };
}

/** Plans one operation on a target that is known already, and throws what is wrong with it. */
export async function planSingle(
  plan: WritePlan,
  expected: TargetSnapshot,
  ports: PlanningPorts,
): Promise<{ readonly change: PlannedChange; readonly edit: ToldEdit }> {
  const { changes, verdicts } = await planChanges(plan, { ...ports, snapshotOf: () => expected });
  const [verdict] = verdicts;
  if (verdict?.kind === 'refused') throw verdict.error;
  const [change] = changes;
  if (change === undefined || verdict?.kind !== 'planned') {
    throw new Error('a plan of one operation has one change');
  }
  return { change, edit: verdict.edit };
}
