import { createRoute } from '@hono/zod-openapi';
import { OrionError } from '@orion/contracts';
import type { ConversationSummary, Message, ShownMessage } from '@orion/contracts';

import { errorsOf } from '../answers/described-errors.ts';
import {
  conversationAnswer,
  conversationParams,
  conversationQuery,
  conversationsAnswer,
  conversationsQuery,
  STANDARD_CONVERSATIONS,
} from './conversations.schemas.ts';
import { cursorOf, readCursor } from './cursor.ts';
import { jsonAnswer } from './describe.ts';
import { projectOf } from './project.ts';
import type { RouteOptions, ServerApp } from './route-options.ts';

/** Of the messages in one answer; a longer message is an answer of its own. */
const PAGE_BYTES = 1024 * 1024;

const list = createRoute({
  method: 'get',
  path: '/api/conversations',
  operationId: 'listConversations',
  tags: ['Conversations'],
  summary: 'Stored conversations, newest first',
  request: { query: conversationsQuery },
  responses: {
    200: jsonAnswer(conversationsAnswer, 'Some of them.'),
    ...errorsOf('PROJECT_NOT_FOUND'),
  },
});

const one = createRoute({
  method: 'get',
  path: '/api/conversations/{id}',
  operationId: 'readConversation',
  tags: ['Conversations'],
  summary: 'One conversation with its last messages',
  request: { params: conversationParams, query: conversationQuery },
  responses: {
    200: jsonAnswer(conversationAnswer, 'As many messages as fit into 1 MiB, and at least one.'),
    ...errorsOf('CONVERSATION_NOT_FOUND'),
  },
});

export function conversationRoutes(app: ServerApp, options: RouteOptions): void {
  const { conversations } = options.orion.store;

  app.openapi(list, async (context) => {
    const { projectId, limit = STANDARD_CONVERSATIONS, before } = context.req.valid('query');
    // One more shows whether there are further ones.
    const found = await conversations.list({
      ...projectOf(options, projectId),
      ...(before === undefined ? {} : { after: placeOf(before) }),
      limit: limit + 1,
    });
    const page = found.slice(0, limit);
    const last = page.at(-1);
    const next = found.length > limit && last !== undefined ? cursorAfter(last) : null;
    return context.json({ conversations: page, next }, 200);
  });

  app.openapi(one, async (context) => {
    const { id } = context.req.valid('param');
    const { before = Number.MAX_SAFE_INTEGER } = context.req.valid('query');
    const found = await conversations.load(id, { before, pageBytes: PAGE_BYTES });
    if (found === null)
      throw new OrionError({
        code: 'CONVERSATION_NOT_FOUND',
        message: `There is no conversation ${JSON.stringify(id)}.`,
      });
    return context.json({ ...found, history: found.history.map(shown) }, 200);
  });
}

function cursorAfter(last: ConversationSummary): string {
  return cursorOf([last.updatedAt, last.createdAt, last.conversationId]);
}

function placeOf(cursor: string) {
  const [updatedAt, createdAt, conversationId] = readCursor(cursor, [0, 0, '']);
  return { updatedAt, createdAt, conversationId };
}

function shown(message: Message): ShownMessage {
  if (message.role !== 'assistant') return message;
  const { providerData: _, toolCalls, ...rest } = message;
  if (toolCalls === undefined) return rest;
  return { ...rest, toolCalls: toolCalls.map(({ providerData: __, ...call }) => call) };
}
