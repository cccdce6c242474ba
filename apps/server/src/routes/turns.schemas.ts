import { z } from '@hono/zod-openapi';
import type {
  CancelAnswer,
  JsonObject,
  MessageAnswer,
  MessageRequest,
  ServedTurn,
  ServedTurnState,
  TurnEventsAnswer,
  TurnListAnswer,
  TurnStreamEvent,
} from '@orion/contracts';

import { idText, optional, time, wholeNumber } from './shared.schemas.ts';
import type { FieldsSchema } from './shared.schemas.ts';

export const MOST_TURNS = 200;
export const STANDARD_TURNS = 50;
/** The longest that a poll may wait, in seconds. */
const MOST_WAIT = 25;
/** Of the metadata as JSON. */
const METADATA_CHARACTERS = 16 * 1024;

export const messageRequest: z.ZodType<MessageRequest> = z
  .strictObject({
    projectId: optional(idText).openapi({
      description: 'The workspace that the turn works in; left out, the server’s own.',
    }),
    content: z.string().regex(/\S/, 'expected text'),
    mode: optional(z.enum(['plan', 'act'])).openapi({ description: '`act` when left out.' }),
    conversationId: optional(idText).openapi({
      description:
        'A new one begins a conversation. Left out, the latest one of the project is continued.',
    }),
    metadata: optional(
      z
        .record(z.string(), z.any())
        .refine(
          (metadata) => JSON.stringify(metadata).length <= METADATA_CHARACTERS,
          `expected at most ${METADATA_CHARACTERS} characters of JSON`,
        )
        // It tries each type of JSON on each element, and so sees only what is small.
        .pipe(z.record(z.string(), z.json())) as unknown as z.ZodType<JsonObject>,
    ).openapi({
      type: 'object',
      description: 'Kept with the turn. `protocol` chooses the protocol where that is allowed.',
    }),
    priority: optional(z.enum(['interactive', 'batch'])).openapi({
      description: '`interactive` when left out; `batch` waits until no interactive turn does.',
    }),
  })
  .openapi('MessageRequest', {
    example: { content: 'Write a haiku about the sea to sea.txt', mode: 'act' },
  });

export const messageAnswer: z.ZodType<MessageAnswer> = z
  .strictObject({ turnId: z.string(), requestId: z.string() })
  .openapi('MessageAccepted');

export const turnParams: FieldsSchema<{ readonly id: string }> = z.strictObject({
  id: idText.openapi({ description: 'The id of a turn.' }),
});

/** The id of an event, its number alone, or nothing, which is the beginning. */
const place = z
  .string()
  .regex(/^(?:(?:0|[1-9]\d{0,14})(?:\.[1-9a-z][0-9a-z]{0,9})?)?$/, 'expected the id of an event');

export const eventsQuery: FieldsSchema<{ readonly after?: string; readonly wait?: number }> =
  z.strictObject({
    after: optional(place).openapi({
      description: 'The id of the last event that was read, or its number.',
      example: '12.1ekc8',
    }),
    wait: optional(
      wholeNumber({
        min: 0,
        max: MOST_WAIT,
        standard: 0,
        description: 'Only for JSON: the seconds to wait where there is no event yet.',
      }),
    ),
  });

export const eventsHeaders: FieldsSchema<{ readonly 'last-event-id'?: string }> = z.object({
  'last-event-id': optional(place).openapi({
    description: 'As a browser sends it when it connects again; it counts more than `after`.',
  }),
});

/** All of them: a new event has to be here, too. */
const KINDS: Readonly<Record<TurnStreamEvent['type'], true>> = {
  phase: true,
  rewind: true,
  chunk: true,
  write_chunk: true,
  write_progress: true,
  write_rewind: true,
  tool_calls: true,
  tool_progress: true,
  tool_result: true,
  write_session: true,
  approval_requested: true,
  approval_decided: true,
  usage: true,
  error: true,
  done: true,
  reset: true,
};

/** What the log has is sent as it is. */
const streamEvent = z.custom<TurnStreamEvent>().openapi('TurnEvent', {
  type: 'object',
  required: ['type'],
  properties: {
    type: { type: 'string', enum: Object.keys(KINDS) },
    seq: { type: 'integer', description: '1, 2, 3 … within the turn. A `reset` has none.' },
    requestId: { type: 'string' },
    projectId: { type: 'string' },
    conversationId: { type: 'string' },
    protocol: { type: 'string' },
    phase: { type: 'string', enum: ['action', 'tool', 'complete'] },
    phaseIndex: { type: 'integer' },
    cycleIndex: { type: 'integer' },
  },
});

export const eventsAnswer: z.ZodType<TurnEventsAnswer> = z
  .strictObject({
    events: z.array(streamEvent),
    next: z.string().openapi({ description: 'What to ask with the next time, as `after`.' }),
    done: z.boolean().openapi({ description: 'Nothing can follow.' }),
  })
  .openapi('TurnEvents');

const STATES: readonly ServedTurnState[] = ['queued', 'running', 'done'];
const STATUSES = ['complete', 'incomplete', 'stopped', 'paused', 'aborted', 'error'] as const;

export const turnAnswer: z.ZodType<ServedTurn> = z
  .strictObject({
    turnId: z.string(),
    projectId: z.string(),
    conversationId: z.string(),
    mode: z.enum(['plan', 'act']),
    protocol: z
      .enum(['standard', 'two-stage', 'controller'])
      .nullable()
      .openapi({ description: 'The one that the request pinned.' }),
    state: z.enum(STATES),
    status: z.enum(STATUSES).nullable().openapi({ description: 'How it ended.' }),
    lastSeq: z.int().openapi({ description: 'The number of its last event.' }),
    cancelRequested: z.boolean(),
    createdAt: time,
    finishedAt: time.nullable(),
  })
  .openapi('Turn');

export const turnsQuery: FieldsSchema<{
  readonly state?: ServedTurnState;
  readonly projectId?: string;
  readonly limit?: number;
  readonly before?: string;
}> = z.strictObject({
  state: optional(z.enum(STATES)),
  projectId: optional(idText),
  limit: optional(wholeNumber({ min: 1, max: MOST_TURNS, standard: STANDARD_TURNS })),
  before: optional(idText).openapi({ description: '`next` of an earlier answer.' }),
});

export const turnsAnswer: z.ZodType<TurnListAnswer> = z
  .strictObject({ turns: z.array(turnAnswer), next: z.string().nullable() })
  .openapi('Turns');

/** Nothing needs to be said. */
export const cancelRequest: z.ZodType<object> = z
  .strictObject({})
  .openapi('TurnCancel', { example: {} });

export const cancelAnswer: z.ZodType<CancelAnswer> = z
  .strictObject({ turnId: z.string(), state: z.literal('cancelling') })
  .openapi('TurnCancelled');

/** A stream as the document describes it. */
export const STREAM_ANSWER: {
  readonly 'text/event-stream': { readonly schema: z.ZodType<string> };
} = {
  'text/event-stream': {
    schema: z.string().openapi({
      description:
        'Frames of `id: <seq>.<epoch>`, `event: <type>` and `data: <the event as JSON>`, and a comment every 5 s. The stream ends after `done`. `event: reset` means: forget what you have of this turn, all events follow.',
      example:
        'id: 1.1ekc8\nevent: phase\ndata: {"type":"phase","phase":"action","index":0,"seq":1}\n\n',
    }),
  },
};
