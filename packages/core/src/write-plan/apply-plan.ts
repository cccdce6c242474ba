import { isFields, OrionError } from '@orion/contracts';
import type { Fields, PlanReport } from '@orion/contracts';

import { executeWritePlan } from './execute.ts';
import type { PlanPorts } from './execute.ts';
import { parsePlan } from './parse-plan.ts';
import type { ApprovalPolicy } from './review.ts';

/** The progress of a plan, for its record. */
export type PlanStep =
  | {
      readonly kind: 'received';
      readonly planId: string;
      readonly intent: string;
      readonly operations: number;
      readonly dryRun: boolean;
    }
  /** Nothing has changed yet, and nothing will if operations are refused. */
  | {
      readonly kind: 'validated';
      readonly planId: string;
      readonly files: number;
      readonly refused: number;
    }
  | { readonly kind: 'finished'; readonly report: PlanReport };

export type PlanOptions = {
  /** Checks the plan and changes nothing; the report contains the diffs. The plan has a key of this name, too. */
  readonly dryRun?: boolean;
  /** Who approves the changes of this plan, instead of the tool's own policy. */
  readonly approval?: ApprovalPolicy;
  /** Aborting before the first change leaves everything as it was. */
  readonly signal?: AbortSignal;
  /** Called in the order of the steps; must not throw. */
  readonly onStep?: (step: PlanStep) => void;
};

/**
 * Runs a plan in its JSON form, the same wrapped in `{plan}`, or a single operation as `{operation, path, content}`.
 * Rejects with INVALID_PLAN if the input is not a plan, and with ABORTED. Every other failure is part of the report; of
 * a single operation, the promise rejects with it.
 */
export async function applyPlan(
  input: unknown,
  options: PlanOptions,
  planId: string,
  ports: PlanPorts,
): Promise<PlanReport> {
  const { form, plan } = planIn(input);
  const parsed = parsePlan(plan);
  const dryRun = options.dryRun ?? parsed.dry_run;
  const { intent } = parsed.plan;
  const { onStep = () => undefined } = options;
  onStep({ kind: 'received', planId, intent, operations: parsed.operations.length, dryRun });
  const report = await executeWritePlan(
    {
      planId,
      plan: parsed.plan,
      operations: parsed.operations,
      dryRun,
      approval: options.approval ?? { kind: 'auto' },
      signal: options.signal ?? null,
      warnings: parsed.warnings,
      validated: (files, refused) => onStep({ kind: 'validated', planId, files, refused }),
    },
    ports,
  );
  onStep({ kind: 'finished', report });
  if (form === 'single') requireDone(report);
  return report;
}

type Given = { readonly form: 'plan' | 'single'; readonly plan: unknown };

function planIn(input: unknown): Given {
  if (!isFields(input) || 'operations' in input) return { form: 'plan', plan: input };
  if ('plan' in input) return { form: 'plan', plan: input['plan'] };
  return 'operation' in input
    ? { form: 'single', plan: planOfOne(input) }
    : { form: 'plan', plan: input };
}

const PLAN_KEYS: readonly string[] = ['safety_checks', 'dry_run', 'atomic', 'eol'];

/** `path` and `operation` are other names for the keys `target_file` and `type` of an operation. */
function planOfOne(fields: Fields): unknown {
  const { operation: type, path, intent, ...others } = fields;
  const { plan = [], own = [] } = Object.groupBy(Object.entries(others), ([key]) =>
    PLAN_KEYS.includes(key) ? 'plan' : 'own',
  );
  return {
    intent: intent ?? `${String(type)} ${String(path ?? others['target_file'])}`,
    operations: [{ type, target_file: path, ...Object.fromEntries(own) }],
    ...Object.fromEntries(plan),
  };
}

/** Throws the error of a single operation that failed. */
function requireDone({ status, results }: PlanReport): void {
  const [result] = results;
  if (status !== 'failed' || result === undefined || result.error === null) return;
  throw new OrionError({ ...result.error, details: result.error_details ?? {} });
}
