import type { PlanReport } from '@orion/contracts';

import { executeWritePlan } from './execute.ts';
import type { PlanPorts } from './execute.ts';
import { parsePlan } from './parse-plan.ts';
import type { ApprovalPolicy } from './review.ts';

export type PlanOptions = {
  /** Judges the plan and changes nothing; the report has the diffs. Also a key of the plan. */
  readonly dryRun?: boolean;
  /** Who agrees before anything changes, instead of whoever does for everything else. */
  readonly approval?: ApprovalPolicy;
  /** Aborting before the first change leaves everything as it was. */
  readonly signal?: AbortSignal;
};

/**
 * Runs a plan in its JSON form, or `{plan}` around it. Rejects with INVALID_PLAN for something that is no plan, and
 * with ABORTED; whatever else fails stands in the report.
 */
export async function applyPlan(
  input: unknown,
  options: PlanOptions,
  planId: string,
  ports: PlanPorts,
): Promise<PlanReport> {
  const parsed = parsePlan(planIn(input));
  return executeWritePlan(
    {
      planId,
      plan: parsed.plan,
      operations: parsed.operations,
      dryRun: options.dryRun ?? parsed.dry_run,
      approval: options.approval ?? { kind: 'auto' },
      signal: options.signal ?? null,
      warnings: parsed.warnings,
    },
    ports,
  );
}

function planIn(input: unknown): unknown {
  const wrapped =
    typeof input === 'object' && input !== null && 'plan' in input && !('operations' in input);
  return wrapped ? input.plan : input;
}
