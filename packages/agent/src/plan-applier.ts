import { defined, OrionError } from '@orion/contracts';
import type { TraceStore } from '@orion/contracts';
import type { ApprovalPolicy, WritePlanTool } from '@orion/core';

import { approvalOf } from './approvals/approval-policy.ts';
import type { Orion, OrionOptions, PlanRequest } from './orion.ts';
import { recordPlan } from './plan-recorder.ts';

/** Applies plans, each with its record in the traces, until the signal is aborted. */
export function planApplier({
  writePlanTool,
  traces,
  projectId,
  approve: standard,
  stopSignal,
}: {
  readonly writePlanTool: WritePlanTool;
  readonly traces: TraceStore;
  readonly projectId: string;
  readonly approve: OrionOptions['approve'];
  readonly stopSignal: AbortSignal;
}): Orion['applyPlan'] {
  return async (plan, { dryRun, approve = standard, isExpected, signal } = {}) => {
    const check = isExpected === undefined ? null : expecting(isExpected, approvalOf(approve));
    const report = await recordPlan(
      (event) => traces.record({ ...event, projectId }),
      (onStep) =>
        writePlanTool.execute(plan, {
          ...defined({ dryRun }),
          approval: check?.approval ?? approvalOf(approve),
          signal: signal === undefined ? stopSignal : AbortSignal.any([stopSignal, signal]),
          onStep,
        }),
    );
    if (check?.wasUnexpected() === true) throw stale();
    return report;
  };
}

/** A policy that approves only what is expected, and only if the other one approves it, too. */
function expecting(
  isExpected: NonNullable<PlanRequest['isExpected']>,
  policy: ApprovalPolicy,
): { readonly approval: ApprovalPolicy; readonly wasUnexpected: () => boolean } {
  let unexpected = false;
  if (policy.kind === 'never') return { approval: policy, wasUnexpected: () => false };
  return {
    approval: {
      kind: 'ask',
      async review(request, signal) {
        unexpected = !isExpected(request.changes);
        if (unexpected) return { approved: false, reason: stale().message };
        return policy.kind === 'auto' ? { approved: true } : policy.review(request, signal);
      },
    },
    wasUnexpected: () => unexpected,
  };
}

function stale(): OrionError {
  return new OrionError({
    code: 'APPROVAL_STALE',
    message: 'The plan would change something else than what was shown; nothing was changed.',
    hint: 'Preview the plan again.',
  });
}
