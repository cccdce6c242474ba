import { createRoute } from '@hono/zod-openapi';
import { OrionError, parseEventId } from '@orion/contracts';
import type { ServedTurn, TurnPosition } from '@orion/contracts';

import { errorsOf } from '../answers/described-errors.ts';
import { hasReadAll, pollEvents } from '../sse/turn-events.ts';
import { jsonAnswer, jsonBody } from './describe.ts';
import type { RouteOptions, ServerApp, ServerContext } from './route-options.ts';
import { streamTurn, wantsStream } from './turn-stream.ts';
import {
  cancelAnswer,
  cancelRequest,
  eventsAnswer,
  eventsHeaders,
  eventsQuery,
  STANDARD_TURNS,
  STREAM_ANSWER,
  turnAnswer,
  turnParams,
  turnsAnswer,
  turnsQuery,
} from './turns.schemas.ts';

const list = createRoute({
  method: 'get',
  path: '/api/turns',
  operationId: 'listTurns',
  tags: ['Turns'],
  summary: 'Turns that were begun over HTTP, newest first',
  request: { query: turnsQuery },
  responses: {
    200: jsonAnswer(turnsAnswer, 'Some of them.'),
    ...errorsOf('TURN_NOT_FOUND', 'PROJECT_NOT_FOUND'),
  },
});

const one = createRoute({
  method: 'get',
  path: '/api/turns/{id}',
  operationId: 'readTurn',
  tags: ['Turns'],
  summary: 'How far a turn is',
  request: { params: turnParams },
  responses: {
    200: jsonAnswer(turnAnswer, 'The turn.'),
    ...errorsOf('TURN_NOT_FOUND'),
  },
});

const events = createRoute({
  method: 'get',
  path: '/api/turns/{id}/events',
  operationId: 'readTurnEvents',
  tags: ['Turns'],
  summary: 'The events of a turn, from any place on',
  request: { params: turnParams, query: eventsQuery, headers: eventsHeaders },
  responses: {
    200: {
      description:
        'The events as they are stored; for a client that accepts JSON, those there are.',
      content: { ...STREAM_ANSWER, 'application/json': { schema: eventsAnswer } },
    },
    204: { description: 'The turn is over, and the client has all of it.' },
    ...errorsOf('TURN_NOT_FOUND'),
  },
});

const cancel = createRoute({
  method: 'post',
  path: '/api/turns/{id}/cancel',
  operationId: 'cancelTurn',
  tags: ['Turns'],
  summary: 'End a turn: what it has written is saved',
  request: { params: turnParams, body: jsonBody(cancelRequest) },
  responses: {
    202: jsonAnswer(
      cancelAnswer,
      'Its `done` usually follows within a second; within 15 s if the turn hangs or its process is gone.',
    ),
    ...errorsOf('TURN_NOT_FOUND', 'TURN_FINISHED'),
  },
});

const BEGINNING: TurnPosition = { seq: 0, epoch: null };

/** Turns as they are stored, whoever runs them. */
export function turnRoutes(app: ServerApp, options: RouteOptions): void {
  const { turns } = options;
  const find = async (turnId: string): Promise<ServedTurn> => {
    const turn = await turns.find(turnId);
    if (turn === null) throw unknownTurn(turnId);
    return turn;
  };

  app.openapi(list, async (context) => {
    const { limit = STANDARD_TURNS, ...which } = context.req.valid('query');
    if (which.projectId !== undefined) options.projects.of(which.projectId);
    // A list that ends there would look like one that has no more.
    if (which.before !== undefined) await find(which.before);
    // One more shows whether there are further ones.
    const found = await turns.list({ ...which, limit: limit + 1 });
    const page = found.slice(0, limit);
    const next = found.length > limit ? (page.at(-1)?.turnId ?? null) : null;
    return context.json({ turns: page, next }, 200);
  });

  app.openapi(one, async (context) => context.json(await find(context.req.valid('param').id), 200));

  app.openapi(events, async (context) => {
    const { id } = context.req.valid('param');
    const { after = '', wait = 0 } = context.req.valid('query');
    const { 'last-event-id': lastEventId = '' } = context.req.valid('header');
    const position = parseEventId(lastEventId === '' ? after : lastEventId) ?? BEGINNING;
    return answerEvents(context, options, { turn: await find(id), after: position, wait });
  });

  app.openapi(cancel, async (context) => {
    const { id } = context.req.valid('param');
    const outcome = await turns.cancel(id);
    if (outcome === 'unknown') throw unknownTurn(id);
    if (outcome === 'finished')
      throw new OrionError({
        code: 'TURN_FINISHED',
        message: `The turn ${JSON.stringify(id)} is over.`,
      });
    return context.json({ turnId: id, state: 'cancelling' }, 202);
  });
}

type EventsQuestion = {
  readonly turn: ServedTurn;
  readonly after: TurnPosition;
  /** In seconds. */
  readonly wait: number;
};

async function answerEvents(
  context: ServerContext,
  options: RouteOptions,
  { turn, after, wait }: EventsQuestion,
): Promise<Response> {
  const { turns, streams, clock } = options;
  const { turnId } = turn;
  const streamed = wantsStream(context);
  if (streamed) {
    // A browser that is told so does not connect again.
    if (await hasReadAll(turns.log, turn, { turnId, after })) return context.body(null, 204);
    if (context.req.raw.method === 'HEAD') {
      return context.body(null, 200, { 'content-type': 'text/event-stream' });
    }
  }
  const seat = streams.admit(options.factsOf(context).client);
  if (streamed) return streamTurn(context, options, { turnId, after, seat });
  try {
    const closed = streams.wait(context.env.outgoing);
    const waiting = { turn, clock, waitMs: wait * 1000, closed };
    return context.json(await pollEvents(turns.log, { turnId, after }, waiting), 200);
  } finally {
    seat.leave();
  }
}

function unknownTurn(turnId: string): OrionError {
  return new OrionError({
    code: 'TURN_NOT_FOUND',
    message: `There is no turn ${JSON.stringify(turnId)} that was begun over HTTP.`,
  });
}
