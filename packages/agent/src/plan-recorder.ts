import type { PlanReport, TraceInput } from '@orion/contracts';
import { defined, toErrorInfo } from '@orion/contracts';
import type { PlanStep } from '@orion/core';

/** Operations of a plan that are recorded one by one. */
const MAX_RECORDED = 1000;

/**
 * What a plan leaves in the traces (R231): that it was received, what its validation came to, each operation, and how
 * it ended. Its id takes the place of a session's, as in the records of changes.
 */
export async function recordPlan(
  record: (event: TraceInput) => void,
  execute: (onStep: (step: PlanStep) => void) => Promise<PlanReport>,
): Promise<PlanReport> {
  let planId: string | null = null;
  let isFinished = false;
  const recordStep = (type: string, details: TraceInput['details']): void => {
    const sessionId = planId ?? undefined;
    record({ type: `write_plan_${type}`, source: 'agent', details, ...defined({ sessionId }) });
  };

  function finished(report: PlanReport): void {
    for (const result of report.results.slice(0, MAX_RECORDED)) {
      const { operation_index, type, target_file, status, error, bytes, lines } = result;
      recordStep('op', {
        index: operation_index,
        type,
        target: target_file,
        status,
        bytes,
        lines,
        ...defined({ code: error?.code }),
      });
    }
    recordStep('finished', {
      plan_id: report.plan_id,
      status: report.status,
      operations: report.results.length,
      files: report.changes.length,
      codes: [...new Set(report.results.flatMap(({ error }) => error?.code ?? []))].join(','),
    });
  }

  function onStep(step: PlanStep): void {
    switch (step.kind) {
      case 'received':
        ({ planId } = step);
        recordStep('received', {
          plan_id: planId,
          intent: step.intent,
          operations: step.operations,
          dry_run: step.dryRun,
        });
        return;
      case 'validated':
        recordStep('validated', { plan_id: planId, files: step.files, refused: step.refused });
        return;
      case 'finished':
        isFinished = true;
        finished(step.report);
        return;
      default:
        step satisfies never;
    }
  }

  try {
    return await execute(onStep);
  } catch (error) {
    if (!isFinished) {
      const { code } = toErrorInfo(error);
      recordStep('finished', {
        plan_id: planId,
        status: 'failed',
        operations: 0,
        files: 0,
        codes: code,
      });
    }
    throw error;
  }
}
