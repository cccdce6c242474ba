import type { HttpBindings } from '@hono/node-server';
import type { Orion } from '@orion/agent';
import type { Clock } from '@orion/contracts';
import type { Context, Hono } from 'hono';

import type { RequestFacts } from '../front-door/front-door.ts';
import type { Metrics } from '../operation/metrics.ts';
import type { ServerLog } from '../operation/request-log.ts';

export type ServerApp = Hono<{ Bindings: HttpBindings }>;
export type ServerContext = Context<{ Bindings: HttpBindings }>;

export type RouteOptions = {
  readonly orion: Orion;
  readonly clock: Clock;
  readonly log: ServerLog;
  readonly metrics: () => Metrics;
  readonly isStopping: () => boolean;
  readonly factsOf: (context: ServerContext) => RequestFacts;
};
