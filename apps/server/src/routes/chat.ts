import { createRoute } from '@hono/zod-openapi';
import { defined } from '@orion/contracts';
import type { MessageRequest, ProtocolName } from '@orion/contracts';

import { errorsOf } from '../answers/described-errors.ts';
import { jsonAnswer, jsonBody } from './describe.ts';
import { keyHeaders, requestKeyOf } from './request-key.ts';
import type { KeyHeaders } from './request-key.ts';
import type { RouteOptions, ServerApp, ServerContext } from './route-options.ts';
import { streamTurn, turnPath, wantsStream } from './turn-stream.ts';
import { messageAnswer, messageRequest, STREAM_ANSWER } from './turns.schemas.ts';

const messageRoute = <const Path extends string>(named: {
  readonly path: Path;
  readonly operationId: string;
  readonly summary: string;
}) =>
  createRoute({
    ...named,
    method: 'post',
    tags: ['Chat'],
    request: {
      headers: keyHeaders,
      body: jsonBody(messageRequest),
    },
    responses: {
      200: { description: 'The events of the turn as they are stored.', content: STREAM_ANSWER },
      202: jsonAnswer(messageAnswer, 'The turn is stored, for a client that accepts JSON only.'),
      ...errorsOf(
        'CONVERSATION_BUSY',
        'CONVERSATION_NOT_FOUND',
        'IDEMPOTENCY_MISMATCH',
        'PROJECT_NOT_FOUND',
        'PROTOCOL_UNSUPPORTED',
      ),
    },
  });

const messages = messageRoute({
  path: '/api/chat/messages',
  operationId: 'sendMessage',
  summary: 'Begin a turn with a message',
});

const twoStage = messageRoute({
  path: '/api/chat/messages_two_stage',
  operationId: 'sendMessageTwoStage',
  summary: 'The same with the two-stage protocol',
});

/** Messages: each begins a turn, which its queue runs, whoever is connected. */
export function chatRoutes(app: ServerApp, options: RouteOptions): void {
  for (const [route, protocol] of [
    [messages, null],
    [twoStage, 'two-stage'],
  ] as const) {
    app.openapi(route, (context) =>
      submit(context, options, {
        route: route.path,
        protocol,
        headers: context.req.valid('header'),
        body: context.req.valid('json'),
      }),
    );
  }
}

type Sent = {
  readonly route: string;
  readonly protocol: ProtocolName | null;
  readonly headers: KeyHeaders;
  readonly body: MessageRequest;
};

async function submit(
  context: ServerContext,
  options: RouteOptions,
  { route, protocol, headers, body }: Sent,
): Promise<Response> {
  const { orion, projects, turns, streams } = options;
  const seat = wantsStream(context) ? streams.admit(options.factsOf(context).client) : null;
  try {
    const { turn } = await turns.submit(
      {
        projectId: body.projectId ?? projects.names?.[0] ?? orion.projectId,
        content: body.content,
        mode: body.mode ?? 'act',
        conversationId: body.conversationId ?? null,
        protocol,
        metadata: body.metadata ?? {},
        ...defined({ priority: body.priority }),
      },
      requestKeyOf(headers, `POST ${route}`, body),
    );
    const { turnId } = turn;
    if (seat !== null) {
      return streamTurn(context, options, { turnId, after: { seq: 0, epoch: null }, seat });
    }
    return context.json({ turnId, requestId: turnId }, 202, { location: turnPath(turnId) });
  } catch (error) {
    seat?.leave();
    throw error;
  }
}
