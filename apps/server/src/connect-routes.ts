import type { IncomingMessage, ServerResponse } from 'node:http';

import { getRequestListener } from '@hono/node-server';
import type { Orion } from '@orion/agent';
import { toErrorInfo } from '@orion/contracts';
import type { Clock, Redact } from '@orion/contracts';

import { createApp, routeProblem } from './app.ts';
import type { ServerSettings } from './configuration.ts';
import { allowedNames } from './front-door/allowed-names.ts';
import { TrustedProxies } from './front-door/forwarded.ts';
import { pathOf } from './front-door/admit.ts';
import { RequestListener } from './front-door/front-door.ts';
import { createMetrics } from './operation/metrics.ts';
import type { Metrics } from './operation/metrics.ts';
import type { ServerLog } from './operation/request-log.ts';
import { countSessions } from './operation/session-counts.ts';
import type { Page } from './page/page.ts';
import type { Projects } from './projects.ts';
import { EventStreams } from './sse/event-streams.ts';
import type { ServedTurnsHere } from './turns/open-turns.ts';

export type RouteParts = {
  readonly orion: Orion;
  readonly projects: Projects;
  readonly settings: ServerSettings;
  /** The one that was taken. */
  readonly port: number;
  readonly token: string;
  readonly page: Page;
  readonly turns: ServedTurnsHere;
  readonly clock: Clock;
  readonly log: ServerLog;
  readonly redact: Redact;
  readonly connections: () => Promise<number>;
  readonly isStopping: () => boolean;
};

export type ConnectedRoutes = {
  readonly listener: RequestListener;
  readonly streams: EventStreams;
  readonly metrics: Metrics;
};

/**
 * What lies between a port and the turns: the front door, the routes behind it, their streams, and what counts all of it.
 * They know each other, so they are made together.
 */
export function connectRoutes(parts: RouteParts): ConnectedRoutes {
  const { orion, projects, settings, page, turns, clock, log, isStopping } = parts;
  const { limits, basePath } = settings;
  const listener = new RequestListener({
    door: {
      ...allowedNames({ host: settings.host, port: parts.port }, settings.allowHosts),
      token: parts.token,
      page: {
        has: (path) => page.files.has(path),
        accepts: (bearer) => page.sessions.accepts(bearer),
        refresh: () => page.sessions.refresh(),
      },
      routeProblem: (method, target) => routeProblem(app, method, target),
    },
    proxies: new TrustedProxies(settings.trustProxies),
    basePath,
    limits,
    clock,
    log,
    metrics: () => metrics,
    isStopping,
    route: (request, response) => answer(request, response),
  });
  const streams = new EventStreams({
    clock,
    perClient: limits.streamsPerClient,
    onFailure: (error) => log.note(`stream of events broken off: ${toErrorInfo(error).code}`),
  });
  const sessions = countSessions(projects.all, clock);
  const metrics = createMetrics({
    processName: settings.processName,
    clock,
    workspaces: projects.all,
    sessions,
    requestsInProgress: () => listener.inProgress(),
    connections: parts.connections,
    streams,
    turns,
  });
  const app = createApp({
    orion,
    projects,
    basePath,
    redact: parts.redact,
    turns: turns.service,
    streams,
    limits,
    page,
    clock,
    log,
    metrics: () => metrics,
    sessions,
    isStopping,
    factsOf: (context) => listener.factsOf(context.env.incoming),
  });
  const routes = getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
    // Of a request without a Host, whose name a proxy has said. No route looks at it.
    hostname: 'localhost',
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const isPage = page.files.has(pathOf(request.url ?? ''));
    if (isPage && (request.method === 'GET' || request.method === 'HEAD'))
      page.files.answer(request, response);
    else await routes(request, response);
  };
  return { listener, streams, metrics };
}
