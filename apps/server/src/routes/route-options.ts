import type { HttpBindings } from '@hono/node-server';
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Orion } from '@orion/agent';
import type { Clock, Redact } from '@orion/contracts';
import type { Context } from 'hono';

import type { RequestFacts } from '../front-door/front-door.ts';
import type { ServerLimits } from '../limits.ts';
import type { Metrics } from '../operation/metrics.ts';
import type { ServerLog } from '../operation/request-log.ts';
import type { SessionCounts } from '../operation/session-counts.ts';
import type { Page } from '../page/page.ts';
import type { Projects } from '../projects.ts';
import type { EventStreams } from '../sse/event-streams.ts';
import type { TurnService } from '../turns/turn-service.ts';

export type ServerApp = OpenAPIHono<{ Bindings: HttpBindings }>;
export type ServerContext = Context<{ Bindings: HttpBindings }>;

export type RouteOptions = {
  /** Whose store it is; where a request works, `projects` says. */
  readonly orion: Orion;
  readonly projects: Projects;
  /** What precedes each path for a client, `/orion`; empty if nothing does. `Location` gets it by itself. */
  readonly basePath: string;
  /** Takes secrets out of a text. */
  readonly redact: Redact;
  readonly turns: TurnService;
  readonly streams: EventStreams;
  readonly limits: ServerLimits;
  readonly page: Page;
  readonly clock: Clock;
  readonly log: ServerLog;
  readonly metrics: () => Metrics;
  /** The write sessions of all projects. */
  readonly sessions: () => Promise<SessionCounts>;
  readonly isStopping: () => boolean;
  readonly factsOf: (context: ServerContext) => RequestFacts;
};
