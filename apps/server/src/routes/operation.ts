import { createRoute, z } from '@hono/zod-openapi';

import { watchServices } from '../operation/service-health.ts';
import { jsonAnswer } from './describe.ts';
import { liveAnswer, readyAnswer } from './operation.schemas.ts';
import type { RouteOptions, ServerApp } from './route-options.ts';

const tags = ['Operation'];

const live = createRoute({
  method: 'get',
  path: '/health/live',
  operationId: 'checkLive',
  tags,
  security: [],
  summary: 'Whether the process answers',
  responses: { 200: jsonAnswer(liveAnswer, 'It does.') },
});

const ready = createRoute({
  method: 'get',
  path: '/health/ready',
  operationId: 'checkReady',
  tags,
  security: [],
  summary: 'Whether new work can be done',
  responses: {
    200: jsonAnswer(readyAnswer, 'It can.'),
    503: jsonAnswer(
      readyAnswer,
      'It cannot: the store does not answer or takes nothing, nothing can be saved, or the server is stopping.',
    ),
  },
});

const measured = createRoute({
  method: 'get',
  path: '/metrics',
  operationId: 'readMetrics',
  tags,
  summary: 'What Prometheus reads of this process',
  responses: {
    200: { description: 'Metrics as text.', content: { 'text/plain': { schema: z.string() } } },
  },
});

/** Health for whoever starts and watches the process, and metrics. */
export function operationRoutes(
  app: ServerApp,
  { orion, projects, clock, isStopping, metrics }: RouteOptions,
): void {
  const look = watchServices({ orion, projects, clock });

  app.openapi(live, (context) => context.json({ status: 'ok' as const }, 200));

  app.openapi(ready, async (context) => {
    const services = await look();
    const isReady = !isStopping() && services.store === 'ok' && services.disk === 'ok';
    if (isReady) return context.json({ status: 'ok' as const, services }, 200);
    const reason = isStopping() ? 'stopping' : 'unavailable';
    return context.json({ status: reason, services } as const, 503);
  });

  app.openapi(measured, async (context) =>
    context.text(await metrics().text(), 200, { 'content-type': metrics().contentType }),
  );
}
