import type { JsonValue } from '../json.ts';
import type { PlanReport } from '../write-plan.ts';

/** `POST /api/plans/preview` */
export type PlanPreviewRequest = {
  readonly projectId?: string;
  /** A write plan in its JSON form. */
  readonly plan: JsonValue;
};

export type PlanPreviewAnswer = {
  readonly report: PlanReport;
  /** What `apply` has to be given; null if the plan cannot be applied. */
  readonly previewHash: string | null;
};

/** `POST /api/plans/apply`, whose answer is a `PlanReport`: the same plan, bound to what its preview has shown. */
export type PlanApplyRequest = PlanPreviewRequest & { readonly previewHash: string };
