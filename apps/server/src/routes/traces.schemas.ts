import { z } from '@hono/zod-openapi';
import type {
  TraceAnswer,
  TracedEvent,
  TracedTurnsAnswer,
  TraceEvent,
  TracesQuery,
} from '@orion/contracts';

import { idText, jsonValue, optional, time, wholeNumber } from './shared.schemas.ts';
import type { FieldsSchema } from './shared.schemas.ts';

export const MOST_TURNS = 200;
export const MOST_EVENTS = 1000;

const eventId = wholeNumber({ min: 0, max: Number.MAX_SAFE_INTEGER });

export const tracesQuery: FieldsSchema<TracesQuery> = z.strictObject({
  requestId: optional(idText).openapi({ description: 'Reads the events of this turn.' }),
  projectId: optional(idText),
  limit: optional(wholeNumber({ min: 1, max: MOST_EVENTS })).openapi({
    description: `50 turns and at most ${MOST_TURNS}, or ${MOST_EVENTS} events.`,
  }),
  before: optional(eventId).openapi({ description: '`next` of an earlier list of turns.' }),
  after: optional(eventId).openapi({ description: '`next` of earlier events of this turn.' }),
});

export const turnsAnswer: z.ZodType<TracedTurnsAnswer> = z
  .strictObject({
    turns: z.array(
      z.strictObject({
        requestId: z.string(),
        projectId: z.string().nullable(),
        task: z.string().nullable().openapi({ description: 'Such as a message or a recovery.' }),
        startedAt: time,
        status: z
          .string()
          .nullable()
          .openapi({ description: 'Null while it runs, or when its process died.' }),
        durationMs: z.number().nullable(),
      }),
    ),
    next: z.int().nullable(),
  })
  .openapi('TracedTurns');

const listedFields = {
  id: z.int(),
  timestamp: time,
  type: z.string().openapi({ example: 'tool_call' }),
  projectId: z.string().nullable(),
  requestId: z.string().nullable(),
  sessionId: z.string().nullable(),
  source: z.string().nullable(),
  summary: z.string().nullable(),
  direction: z.enum(['in', 'out']).nullable(),
  toolName: z.string().nullable(),
  phaseIndex: z.int().nullable(),
  cycleIndex: z.int().nullable(),
  truncated: z.boolean(),
};

const tracedEvent: z.ZodType<TracedEvent> = z
  .strictObject({ ...listedFields, hasError: z.boolean() })
  .openapi('TracedEvent');

export const traceAnswer: z.ZodType<TraceAnswer> = z
  .strictObject({
    requestId: z.string(),
    events: z.array(tracedEvent),
    next: z.int().nullable(),
  })
  .openapi('Trace');

export const eventParams: FieldsSchema<{ readonly request: string; readonly id: number }> =
  z.strictObject({
    request: idText.openapi({ description: 'The id of a turn.' }),
    id: eventId,
  });

export const traceEvent: z.ZodType<TraceEvent> = z
  .strictObject({
    ...listedFields,
    details: jsonValue,
    error: jsonValue,
    metadata: jsonValue,
    raw: z.string().openapi({
      description: 'The exact JSON text of `details`; its beginning where `truncated` is true.',
    }),
  })
  .openapi('TraceEvent');
