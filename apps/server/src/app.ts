import { Hono } from 'hono';
import { routePath } from 'hono/route';

import { errorAnswer, httpError } from './answers/http-error.ts';
import type { HttpError } from './answers/http-error.ts';
import { operationRoutes } from './routes/operation.ts';
import type { RouteOptions, ServerApp, ServerContext } from './routes/route-options.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'];

/** The routes. What reaches them has passed the front door. */
export function createApp(options: RouteOptions): ServerApp {
  const app: ServerApp = new Hono();
  const answer = (context: ServerContext, { status, body, headers }: HttpError): Response => {
    options.factsOf(context).code = body.error.code;
    return Response.json(body, { status, headers });
  };
  app.use('*', async (context, next) => {
    await next();
    const pattern = routePath(context, -1);
    if (context.res.status !== 404 || pattern !== '/*') options.factsOf(context).route = pattern;
  });
  operationRoutes(app, options);
  app.notFound((context) => {
    const allowed = METHODS.filter((method) => hasRoute(app, method, context.req.path));
    return answer(
      context,
      allowed.length === 0
        ? httpError('ROUTE_NOT_FOUND', 'There is no such route.')
        : httpError('METHOD_NOT_ALLOWED', 'The route does not take this method.', {
            allow: allowed.join(', '),
          }),
    );
  });
  app.onError((error, context) => {
    const found = errorAnswer(error);
    if (found.body.error.code === 'INTERNAL_ERROR') {
      options.log.defect(options.factsOf(context).id, error);
    }
    return answer(context, found);
  });
  return app;
}

/** Whether anything but what runs for every path answers it. */
function hasRoute(app: ServerApp, method: string, path: string): boolean {
  const [handlers] = app.router.match(method === 'HEAD' ? 'GET' : method, path);
  return handlers.some(([[, route]]) => route.path !== '/*');
}
