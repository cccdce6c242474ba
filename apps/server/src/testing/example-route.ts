import { createRoute, z } from '@hono/zod-openapi';
import { OrionError } from '@orion/contracts';

import { errorsOf } from '../answers/described-errors.ts';
import { jsonAnswer } from '../routes/describe.ts';
import type { RouteOptions, ServerApp } from '../routes/route-options.ts';
import { idText } from '../routes/shared.schemas.ts';
import type { FieldsSchema } from '../routes/shared.schemas.ts';

/** `GET /api/conversations/:id/length` */
type LengthAnswer = { readonly messages: number };

const lengthParams: FieldsSchema<{ readonly id: string }> = z.strictObject({ id: idText });

const lengthAnswer: z.ZodType<LengthAnswer> = z
  .strictObject({ messages: z.int() })
  .openapi('ConversationLength');

const length = createRoute({
  method: 'get',
  path: '/api/conversations/{id}/length',
  operationId: 'countMessages',
  tags: ['Conversations'],
  summary: 'How many messages a conversation has',
  request: { params: lengthParams },
  responses: {
    200: jsonAnswer(lengthAnswer, 'All of them, whoever they are from.'),
    ...errorsOf('CONVERSATION_NOT_FOUND'),
  },
});

export function lengthRoutes(app: ServerApp, { orion }: RouteOptions): void {
  app.openapi(length, async (context) => {
    const { id } = context.req.valid('param');
    const found = await orion.store.conversations.load(id, { maxBytes: 0 });
    if (found === null)
      throw new OrionError({
        code: 'CONVERSATION_NOT_FOUND',
        message: `There is no conversation ${JSON.stringify(id)}.`,
      });
    return context.json({ messages: found.messages }, 200);
  });
}
