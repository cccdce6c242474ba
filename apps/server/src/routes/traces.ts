import { createRoute, z } from '@hono/zod-openapi';
import { listRecordedTurns } from '@orion/agent';
import { defined, OrionError } from '@orion/contracts';
import type {
  TraceAnswer,
  TracedEvent,
  TracedTurnsAnswer,
  TraceEvent,
  TraceStore,
} from '@orion/contracts';

import { errorsOf } from '../answers/described-errors.ts';
import { jsonAnswer } from './describe.ts';
import { projectOf } from './project.ts';
import type { RouteOptions, ServerApp } from './route-options.ts';
import {
  eventParams,
  MOST_EVENTS,
  MOST_TURNS,
  traceAnswer,
  traceEvent,
  tracesQuery,
  turnsAnswer,
} from './traces.schemas.ts';

const STANDARD_TURNS = 50;

const list = createRoute({
  method: 'get',
  path: '/api/traces',
  operationId: 'listTraces',
  tags: ['Traces'],
  summary: 'Recorded turns, newest first, or the events of one turn in order',
  request: { query: tracesQuery },
  responses: {
    200: jsonAnswer(
      z.union([turnsAnswer, traceAnswer]),
      'With `requestId` the events of that turn, without their details.',
    ),
    ...errorsOf('TRACE_NOT_FOUND', 'PROJECT_NOT_FOUND'),
  },
});

const event = createRoute({
  method: 'get',
  path: '/api/traces/{request}/events/{id}',
  operationId: 'readTraceEvent',
  tags: ['Traces'],
  summary: 'One event with everything that is stored of it',
  request: { params: eventParams },
  responses: {
    200: jsonAnswer(
      traceEvent,
      'At most 64 KiB of details. Secrets were removed before it was stored.',
    ),
    ...errorsOf('TRACE_NOT_FOUND'),
  },
});

export function traceRoutes(app: ServerApp, options: RouteOptions): void {
  const { traces } = options.orion.store;

  app.openapi(list, async (context) => {
    const { requestId, limit, after = 0, ...which } = context.req.valid('query');
    if (requestId !== undefined)
      return context.json(await readEvents(traces, requestId, after, limit ?? MOST_EVENTS), 200);
    const { projectId, before } = which;
    const filter = { ...projectOf(options, projectId), ...defined({ beforeId: before }) };
    const most = Math.min(limit ?? STANDARD_TURNS, MOST_TURNS);
    return context.json(await readTurns(traces, filter, most), 200);
  });

  app.openapi(event, async (context) => {
    const { request, id } = context.req.valid('param');
    const which = { requestId: request, afterId: id - 1, beforeId: id + 1 };
    const [found] = await traces.query({ ...which, limit: 1 });
    if (found === undefined)
      throw notFound(`There is no event ${id} of a turn ${JSON.stringify(request)}.`);
    return context.json(found, 200);
  });
}

async function readTurns(
  traces: TraceStore,
  filter: { readonly projectId?: string; readonly beforeId?: number },
  limit: number,
): Promise<TracedTurnsAnswer> {
  // One more shows whether there are further ones.
  const found = await listRecordedTurns(traces, { ...filter, limit: limit + 1 });
  const page = found.slice(0, limit);
  return {
    turns: page.map(({ eventId: _, ...turn }) => turn),
    next: found.length > limit ? (page.at(-1)?.eventId ?? null) : null,
  };
}

async function readEvents(
  traces: TraceStore,
  requestId: string,
  after: number,
  limit: number,
): Promise<TraceAnswer> {
  const events: TracedEvent[] = [];
  for await (const found of traces.scan({ requestId, afterId: after })) {
    if (events.length === limit) return { requestId, events, next: events.at(-1)?.id ?? null };
    events.push(listed(found));
  }
  if (events.length === 0 && after === 0)
    throw notFound(`There is no trace of a turn ${JSON.stringify(requestId)}.`);
  return { requestId, events, next: null };
}

function listed({ details: _, metadata: __, raw: ___, error, ...event }: TraceEvent): TracedEvent {
  return { ...event, hasError: error !== null };
}

function notFound(message: string): OrionError {
  return new OrionError({ code: 'TRACE_NOT_FOUND', message });
}
