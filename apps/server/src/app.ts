import { OpenAPIHono } from '@hono/zod-openapi';
import { routePath } from 'hono/route';

import { errorAnswer, httpError } from './answers/http-error.ts';
import type { HttpError } from './answers/http-error.ts';
import { invalidRequest } from './answers/request-problems.ts';
import { approvalRoutes } from './routes/approvals.ts';
import { changeRoutes } from './routes/changes.ts';
import { chatRoutes } from './routes/chat.ts';
import { conversationRoutes } from './routes/conversations.ts';
import { documentationRoutes } from './routes/documentation.ts';
import { pageRoutes } from './routes/page.ts';
import { operationRoutes } from './routes/operation.ts';
import { planRoutes } from './routes/plans.ts';
import { statusRoutes } from './routes/status.ts';
import { toolOutputRoutes } from './routes/tool-outputs.ts';
import { traceRoutes } from './routes/traces.ts';
import { writeSessionRoutes } from './routes/write-sessions.ts';
import type { RouteOptions, ServerApp, ServerContext } from './routes/route-options.ts';
import { turnRoutes } from './routes/turns.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'];

/** The routes. What reaches them has passed the front door. */
export function createApp(options: RouteOptions): ServerApp {
  const app: ServerApp = new OpenAPIHono({
    defaultHook: (result) => {
      if (!result.success) throw invalidRequest(result.target, result.error.issues);
    },
  });
  const answer = (context: ServerContext, { status, body, headers }: HttpError): Response => {
    options.factsOf(context).code = body.error.code;
    return new Response(options.redact(JSON.stringify(body)), {
      status,
      headers: { 'content-type': 'application/json', ...headers },
    });
  };
  app.use('*', async (context, next) => {
    await next();
    const location = context.res.headers.get('location');
    if (location?.startsWith('/') === true)
      context.res.headers.set('location', `${options.basePath}${location}`);
    const pattern = routePath(context, -1);
    if (context.res.status !== 404 || pattern !== '/*') options.factsOf(context).route = pattern;
  });
  operationRoutes(app, options);
  statusRoutes(app, options);
  conversationRoutes(app, options);
  pageRoutes(app, options);
  traceRoutes(app, options);
  toolOutputRoutes(app, options);
  writeSessionRoutes(app, options);
  approvalRoutes(app, options);
  changeRoutes(app, options);
  planRoutes(app, options);
  chatRoutes(app, options);
  turnRoutes(app, options);
  documentationRoutes(app);
  app.notFound((context) => answer(context, noRoute(app, context.req.path)));
  app.onError((error, context) => {
    const found = errorAnswer(error);
    if (found.body.error.code === 'INTERNAL_ERROR') {
      options.log.defect(options.factsOf(context).id, error);
    }
    return answer(context, found);
  });
  return app;
}

/** Why no route takes a request with this method and target; null if one does, or if it is not known yet. */
export function routeProblem(app: ServerApp, method: string, target: string): HttpError | null {
  const url = `http://localhost${target}`;
  if (!URL.canParse(url)) return null;
  const path = app.getPath(new Request(url));
  return hasRoute(app, method, path) ? null : noRoute(app, path);
}

function noRoute(app: ServerApp, path: string): HttpError {
  const allowed = METHODS.filter((method) => hasRoute(app, method, path));
  if (allowed.length === 0) return httpError('ROUTE_NOT_FOUND', 'There is no such route.');
  const allow = allowed.join(', ');
  return httpError('METHOD_NOT_ALLOWED', 'The route does not take this method.', { allow });
}

/** Whether anything but what runs for every path answers it. */
function hasRoute(app: ServerApp, method: string, path: string): boolean {
  const [handlers] = app.router.match(method === 'HEAD' ? 'GET' : method, path);
  return handlers.some(([[, route]]) => route.path !== '/*');
}
