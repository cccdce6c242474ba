import type { LiveAnswer, ReadyAnswer } from '@orion/contracts';

import { watchServices } from '../operation/service-health.ts';
import type { RouteOptions, ServerApp } from './route-options.ts';

/** Health for whoever starts and watches the process, and metrics. */
export function operationRoutes(
  app: ServerApp,
  { orion, clock, isStopping, metrics }: RouteOptions,
): void {
  const look = watchServices(orion, clock);

  app.get('/health/live', (context) => context.json<LiveAnswer>({ status: 'ok' }));

  app.get('/health/ready', async (context) => {
    const services = await look();
    const isReady = !isStopping() && services.store === 'ok';
    const reason = isStopping() ? 'stopping' : 'unavailable';
    return context.json<ReadyAnswer>(
      { status: isReady ? 'ok' : reason, services },
      isReady ? 200 : 503,
    );
  });

  app.get('/metrics', async (context) =>
    context.body(await metrics().text(), 200, { 'content-type': metrics().contentType }),
  );
}
