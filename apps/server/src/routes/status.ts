import { createHash } from 'node:crypto';

import { createRoute, z } from '@hono/zod-openapi';
import type { StatusAnswer } from '@orion/contracts';

import { jsonAnswer, jsonText } from './describe.ts';
import type { RouteOptions, ServerApp } from './route-options.ts';
import { optional } from './shared.schemas.ts';
import type { FieldsSchema } from './shared.schemas.ts';

/** Those who ask within this time of each other get one answer: a status line asks often. */
const LOOK_MS = 500;

const conditions: FieldsSchema<{ readonly 'if-none-match'?: string }> = z.object({
  'if-none-match': optional(z.string()).openapi({
    description: 'The `ETag` of an earlier answer.',
  }),
});

const counts = z.strictObject({ queued: z.int(), running: z.int() });

const statusAnswer: z.ZodType<StatusAnswer> = z
  .strictObject({
    projects: z.array(z.string()).nullable().openapi({
      description: 'Null where there is one workspace, and any name is a label.',
    }),
    folder: z.string().nullable().openapi({
      description: 'The workspace; null where there are several projects.',
    }),
    page: z.string().nullable().openapi({
      description: 'Names the version of the web page that is offered; null where there is none.',
    }),
    turns: counts,
    pendingApprovals: z.int().openapi({ description: 'Approvals that wait for a person.' }),
    writeSessions: z.strictObject({
      live: z.int().openapi({ description: 'A process writes in them.' }),
      unfinished: z.int().openapi({ description: 'Their process is gone; they can be recovered.' }),
    }),
  })
  .openapi('Status');

const status = createRoute({
  method: 'get',
  path: '/api/status',
  operationId: 'readStatus',
  tags: ['Operation'],
  summary: 'Counts for a status line',
  request: { headers: conditions },
  responses: {
    200: jsonAnswer(statusAnswer, 'With an `ETag`.'),
    304: { description: 'Nothing has changed since the answer with this `ETag`.' },
  },
});

export function statusRoutes(app: ServerApp, options: RouteOptions): void {
  let latest: { readonly at: number; readonly text: Promise<string> } | null = null;

  app.openapi(status, async (context) => {
    const now = options.clock.monotonic();
    if (latest === null || now - latest.at >= LOOK_MS)
      latest = { at: now, text: look(options).then((found) => JSON.stringify(found)) };
    const text = await latest.text;
    const tag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
    const { 'if-none-match': known = '' } = context.req.valid('header');
    const isKnown = known.split(',').some((each) => [tag, `W/${tag}`, '*'].includes(each.trim()));
    context.header('etag', tag);
    return isKnown ? context.body(null, 304) : jsonText<StatusAnswer>(text, { etag: tag });
  });
}

async function look({ orion, projects, sessions, page }: RouteOptions): Promise<StatusAnswer> {
  const [{ queued, running }, pendingApprovals] = await Promise.all([
    orion.store.servedTurns.count({}),
    orion.store.approvals.countPending(),
  ]);
  const { byStatus, unfinished } = await sessions();
  const live = byStatus.get('live') ?? 0;
  return {
    projects: projects.names,
    folder: projects.names === null ? orion.workspace : null,
    page: page.files.version,
    pendingApprovals,
    turns: { queued, running },
    writeSessions: { live, unfinished },
  };
}
