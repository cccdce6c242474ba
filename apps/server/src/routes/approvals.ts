import { createRoute } from '@hono/zod-openapi';
import { approvalNotFound } from '@orion/agent';
import { OrionError } from '@orion/contracts';
import type { Approval, ApprovalAnswer } from '@orion/contracts';

import { errorsOf } from '../answers/described-errors.ts';
import {
  approval,
  approvalAnswer,
  approvalParams,
  approvalsAnswer,
  approvalsQuery,
  decideRequest,
  STANDARD_APPROVALS,
} from './approvals.schemas.ts';
import { jsonAnswer, jsonBody } from './describe.ts';
import type { RouteOptions, ServerApp } from './route-options.ts';

const tags = ['Approvals'];

const list = createRoute({
  method: 'get',
  path: '/api/approvals',
  operationId: 'listApprovals',
  tags,
  summary: 'What turns ask people, newest first',
  request: { query: approvalsQuery },
  responses: {
    200: jsonAnswer(approvalsAnswer, 'Some of them; `state=pending` are those that wait.'),
    ...errorsOf('APPROVAL_NOT_FOUND', 'PROJECT_NOT_FOUND'),
  },
});

const one = createRoute({
  method: 'get',
  path: '/api/approvals/{id}',
  operationId: 'readApproval',
  tags,
  summary: 'What a turn asks, with the diff of each file',
  request: { params: approvalParams },
  responses: {
    200: jsonAnswer(approvalAnswer, 'At most 1 Mi characters of each diff, and 4 Mi of all.'),
    ...errorsOf('APPROVAL_NOT_FOUND'),
  },
});

const decide = createRoute({
  method: 'post',
  path: '/api/approvals/{id}',
  operationId: 'decideApproval',
  tags,
  summary: 'Decide, once',
  description:
    'A yes applies to exactly the action with this hash. `APPROVAL_STALE`: that is no longer what would happen; for a write, the turn then asks again. `APPROVAL_DECIDED`: somebody else decided first.',
  request: { params: approvalParams, body: jsonBody(decideRequest) },
  responses: {
    200: jsonAnswer(approval, 'Decided; the turn goes on.'),
    ...errorsOf('APPROVAL_NOT_FOUND', 'APPROVAL_DECIDED', 'APPROVAL_STALE'),
  },
});

export function approvalRoutes(app: ServerApp, { orion, projects }: RouteOptions): void {
  const { approvals } = orion.store;
  const find = async (id: string): Promise<Approval> => {
    const found = await approvals.find(id);
    if (found === null) throw approvalNotFound(id);
    return found;
  };

  app.openapi(list, async (context) => {
    const { limit = STANDARD_APPROVALS, ...which } = context.req.valid('query');
    if (which.projectId !== undefined) projects.of(which.projectId);
    // A list that ends there would look like one that has no more.
    if (which.before !== undefined) await find(which.before);
    // One more shows whether there are further ones.
    const found = await approvals.list({ ...which, limit: limit + 1 });
    const page = found.slice(0, limit);
    const next = found.length > limit ? (page.at(-1)?.approvalId ?? null) : null;
    return context.json({ approvals: page, next }, 200);
  });

  app.openapi(one, async (context) => {
    const found = await find(context.req.valid('param').id);
    const diffs = await approvals.findDiffs(found.approvalId);
    return context.json({ ...found, diffs: withAll(found, diffs) }, 200);
  });

  app.openapi(decide, async (context) => {
    const { id } = context.req.valid('param');
    const decision = context.req.valid('json');
    const { action, projectId } = await find(id);
    if (decision.decision === 'turn' && action.kind !== 'write') {
      throw new OrionError({
        code: 'USAGE',
        message: 'The decision "turn" is about writes, and this is none.',
        hint: 'Decide yes or no.',
      });
    }
    return context.json(await projects.of(projectId).approvals.decide(id, decision), 200);
  });
}

/** Each file of a write that waits: also where an earlier version has asked, which stored no diffs. */
function withAll(
  { state, action }: Approval,
  diffs: ApprovalAnswer['diffs'],
): ApprovalAnswer['diffs'] {
  if (state !== 'pending' || action.kind !== 'write') return [];
  return action.changes.map(
    ({ target_file }, index) => diffs[index] ?? { target_file, diff: null, cut: false },
  );
}
