import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { accepts } from 'hono/accepts';

import type { Seat } from '../sse/event-streams.ts';
import { turnFrames } from '../sse/turn-events.ts';
import type { TurnReading } from '../sse/turn-events.ts';
import type { RouteOptions, ServerContext } from './route-options.ts';

const STREAM = 'text/event-stream';

/** Whether the client reads a stream, which it does unless it prefers JSON. */
export function wantsStream(context: ServerContext): boolean {
  const supports = [STREAM, 'application/json'];
  return accepts(context, { header: 'Accept', supports, default: STREAM }) === STREAM;
}

/**
 * Answers with the events of a turn as they are stored. The stream is written beside the request: a connection that ends
 * ends the stream and nothing else.
 */
export function streamTurn(
  context: ServerContext,
  { turns, streams, basePath }: Pick<RouteOptions, 'turns' | 'streams' | 'basePath'>,
  { turnId, after, seat }: TurnReading & { readonly seat: Seat },
): Response {
  const { outgoing } = context.env;
  outgoing.setHeader('location', `${basePath}${turnPath(turnId)}`);
  streams.start(outgoing, seat, (signal) => turnFrames(turns.log, { turnId, after }, signal));
  return RESPONSE_ALREADY_SENT;
}

export function turnPath(turnId: string): string {
  return `/api/turns/${encodeURIComponent(turnId)}`;
}
