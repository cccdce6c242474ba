import { z } from '@hono/zod-openapi';
import type {
  ConversationAnswer,
  ConversationQuery,
  ConversationsAnswer,
  ConversationsQuery,
  ShownMessage,
} from '@orion/contracts';

import { idText, optional, time, wholeNumber } from './shared.schemas.ts';
import type { FieldsSchema } from './shared.schemas.ts';

export const MOST_CONVERSATIONS = 200;
export const STANDARD_CONVERSATIONS = 50;

const summaryFields = {
  conversationId: z.string(),
  projectId: z.string(),
  title: z
    .string()
    .openapi({ description: 'The first words of the first message, or a name given since.' }),
  messages: z.int(),
  createdAt: time,
  updatedAt: time,
  openSessionId: z
    .string()
    .nullable()
    .openapi({ description: 'The write session that a crash or a pause left open.' }),
  revision: z.int(),
};

const summary = z.strictObject(summaryFields).openapi('Conversation');

const toolCall = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    arguments: z.string().openapi({ description: 'The exact text that arrived.' }),
    state: z.enum(['complete', 'cut', 'malformed']),
    kind: optional(z.literal('custom')),
    kept: optional(
      z.array(
        z.strictObject({
          name: z.string(),
          raw: optional(z.literal(true)),
          path: z.string(),
          lines: z.int(),
          bytes: z.int(),
        }),
      ),
    ),
  })
  .openapi('ToolCall');

const message: z.ZodType<ShownMessage> = z
  .discriminatedUnion('role', [
    z.strictObject({ role: z.literal('system'), content: z.string() }),
    z.strictObject({ role: z.literal('user'), content: z.string() }),
    z.strictObject({
      role: z.literal('assistant'),
      content: z.string(),
      toolCalls: optional(z.array(toolCall)),
    }),
    z.strictObject({
      role: z.literal('tool'),
      toolCallId: z.string(),
      toolName: z.string(),
      content: z.string(),
    }),
  ])
  .openapi('Message');

export const conversationsQuery: FieldsSchema<ConversationsQuery> = z.strictObject({
  projectId: optional(idText),
  limit: optional(
    wholeNumber({ min: 1, max: MOST_CONVERSATIONS, standard: STANDARD_CONVERSATIONS }),
  ),
  before: optional(z.string().max(1000).openapi({ description: '`next` of an earlier answer.' })),
});

export const conversationsAnswer: z.ZodType<ConversationsAnswer> = z
  .strictObject({ conversations: z.array(summary), next: z.string().nullable() })
  .openapi('Conversations');

export const conversationParams: FieldsSchema<{ readonly id: string }> = z.strictObject({
  id: idText.openapi({ description: 'The id of a conversation.' }),
});

export const conversationQuery: FieldsSchema<ConversationQuery> = z.strictObject({
  before: optional(
    wholeNumber({
      min: 0,
      max: Number.MAX_SAFE_INTEGER,
      description: 'Reads the messages before this position; left out, the last ones.',
    }),
  ),
});

export const conversationAnswer: z.ZodType<ConversationAnswer> = z
  .strictObject({
    ...summaryFields,
    history: z.array(message),
    from: z.int().openapi({ description: 'The position of the first message of `history`.' }),
  })
  .openapi('ConversationWithMessages');
