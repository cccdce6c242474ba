import { createRoute } from '@hono/zod-openapi';
import { readDiffs } from '@orion/agent';
import { defined, OrionError } from '@orion/contracts';
import type { RecordedChange } from '@orion/contracts';

import { errorsOf } from '../answers/described-errors.ts';
import {
  changeDiffAnswer,
  changeParams,
  changesAnswer,
  changesQuery,
  projectQuery,
  STANDARD_CHANGES,
  undoAnswer,
  undoRequest,
} from './changes.schemas.ts';
import { jsonAnswer, jsonBody } from './describe.ts';
import { workspaceOf } from './project.ts';
import type { RouteOptions, ServerApp } from './route-options.ts';

const tags = ['Changes'];

const list = createRoute({
  method: 'get',
  path: '/api/changes',
  operationId: 'listChanges',
  tags,
  summary: 'Changes that can be undone, newest first',
  request: { query: changesQuery },
  responses: {
    200: jsonAnswer(changesAnswer, 'Some of them.'),
    ...errorsOf('PROJECT_NOT_FOUND'),
  },
});

const diff = createRoute({
  method: 'get',
  path: '/api/changes/{id}/diff',
  operationId: 'readChangeDiff',
  tags,
  summary: 'What a change did, as unified diffs',
  request: { params: changeParams, query: projectQuery },
  responses: {
    200: jsonAnswer(changeDiffAnswer, 'At most 1 Mi characters of each file, and 4 Mi of all.'),
    ...errorsOf('CHANGE_NOT_FOUND', 'PROJECT_NOT_FOUND'),
  },
});

const undo = createRoute({
  method: 'post',
  path: '/api/changes/{id}/undo',
  operationId: 'undoChange',
  tags,
  summary: 'Gives every file of a change its previous bytes back',
  request: { params: changeParams, body: jsonBody(undoRequest) },
  responses: {
    200: jsonAnswer(undoAnswer, 'Undone, or as it was before already.'),
    ...errorsOf(
      'CHANGE_NOT_FOUND',
      'PROJECT_NOT_FOUND',
      'TARGET_CHANGED',
      'TARGET_LOCKED',
      'BACKUP_DAMAGED',
      'BACKUP_FOREIGN',
      'PROTECTED_PATH',
      'HARD_LINK',
      'WRITE_FAILED',
      'DISK_FULL',
    ),
  },
});

export function changeRoutes(app: ServerApp, options: RouteOptions): void {
  app.openapi(list, async (context) => {
    const { projectId, limit = STANDARD_CHANGES, before } = context.req.valid('query');
    const changes: RecordedChange[] = [];
    let isPast = before === undefined;
    let isLast = true;
    for await (const change of workspaceOf(options, projectId).changes()) {
      isLast = changes.length < limit;
      if (!isLast) break;
      if (isPast) changes.push(change);
      else isPast = change.change_id === before;
    }
    if (before !== undefined && !isPast) throw notFound(before);
    return context.json(
      { changes, next: isLast ? null : (changes.at(-1)?.change_id ?? null) },
      200,
    );
  });

  app.openapi(diff, async (context) => {
    const { projectId } = context.req.valid('query');
    const { id } = context.req.valid('param');
    const found = await workspaceOf(options, projectId).diffChange(id);
    return context.json({ files: await readDiffs(found, context.req.raw.signal) }, 200);
  });

  app.openapi(undo, async (context) => {
    const { projectId, force } = context.req.valid('json');
    const { id } = context.req.valid('param');
    const report = await workspaceOf(options, projectId).undo({ id, ...defined({ force }) });
    return context.json(report, 200);
  });
}

function notFound(id: string): OrionError {
  const message = `There is no change ${JSON.stringify(id)}.`;
  return new OrionError({ code: 'CHANGE_NOT_FOUND', message });
}
