import { createHash } from 'node:crypto';

import { createRoute } from '@hono/zod-openapi';
import type { JsonValue } from '@orion/contracts';

import { errorsOf } from '../answers/described-errors.ts';
import { jsonAnswer, jsonBody } from './describe.ts';
import { applyRequest, planReport, previewAnswer, previewRequest } from './plans.schemas.ts';
import { workspaceOf } from './project.ts';
import type { RouteOptions, ServerApp } from './route-options.ts';

const tags = ['Write plans'];

const preview = createRoute({
  method: 'post',
  path: '/api/plans/preview',
  operationId: 'previewPlan',
  tags,
  summary: 'What a write plan would do, file by file',
  request: { body: jsonBody(previewRequest) },
  responses: {
    200: jsonAnswer(previewAnswer, 'Also of a plan that cannot be applied: its report says why.'),
    ...errorsOf('INVALID_PLAN', 'PROJECT_NOT_FOUND'),
  },
});

const apply = createRoute({
  method: 'post',
  path: '/api/plans/apply',
  operationId: 'applyPlan',
  tags,
  summary: 'Makes the changes of a write plan that its preview has shown, all or none',
  description:
    'The changes are refused with `APPROVAL_STALE` if they are not those that the preview has shown, because the ' +
    'plan is another one or a file was changed since. A client that leaves does not stop them.',
  request: { body: jsonBody(applyRequest) },
  responses: {
    200: jsonAnswer(planReport, 'Done if its `status` says so; a failed operation is in it.'),
    ...errorsOf('INVALID_PLAN', 'APPROVAL_STALE', 'PROJECT_NOT_FOUND'),
  },
});

export function planRoutes(app: ServerApp, options: RouteOptions): void {
  app.openapi(preview, async (context) => {
    const { plan, projectId } = context.req.valid('json');
    const { signal } = context.req.raw;
    const orion = workspaceOf(options, projectId);
    const report = await orion.applyPlan(plan, { dryRun: true, signal });
    const previewHash = report.status === 'failed' ? null : hashOf(plan, report.changes);
    return context.json({ report, previewHash }, 200);
  });

  app.openapi(apply, async (context) => {
    const { plan, previewHash, projectId } = context.req.valid('json');
    const report = await workspaceOf(options, projectId).applyPlan(plan, {
      dryRun: false,
      isExpected: (changes) =>
        previewHash ===
        hashOf(
          plan,
          changes.map((each) => ({ ...each, before: each.before?.sha256 ?? null })),
        ),
    });
    return context.json(report, 200);
  });
}

/** Of the plan and the bytes that it begins with: both together decide the bytes that it writes. */
function hashOf(
  plan: JsonValue,
  changes: readonly { readonly target_file: string; readonly before: string | null }[],
): string {
  const files = changes.map(({ target_file, before }) => [target_file, before]);
  return createHash('sha256')
    .update(JSON.stringify([plan, files]))
    .digest('hex');
}
