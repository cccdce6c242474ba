import type { JsonObject, ResponseFormat } from '@orion/contracts';

/**
 * The shape of every output of a controller model (R187).
 *
 * 1. It is flat: no alternatives (oneOf, anyOf, allOf, if) at any depth, and no nested step. Providers strip keywords
 *    that they do not know; that can make a required field optional, and the model then leaves out its action.
 * 2. No step consists of thinking alone: thinking is a field of every action.
 * 3. `args` has no type, so that it needs no alternatives. There are no numeric bounds, because providers strip those
 *    too.
 */
export const CONTROLLER_SCHEMA: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  required: ['action'],
  properties: {
    action: { type: 'string', enum: ['next_step', 'complete', 'guardrail_stop', 'ask_user'] },
    thinking: {
      type: 'object',
      properties: {
        task: { type: 'string' },
        facts: { type: 'array', items: { type: 'string' } },
        decisions: { type: 'array', items: { type: 'string' } },
        risks: { type: 'array', items: { type: 'string' } },
        confidence: { type: 'number' },
      },
      additionalProperties: false,
    },
    type: { type: 'string', enum: ['tool', 'respond', 'ask_user'] },
    description: { type: 'string' },
    tool: { type: 'string' },
    args: {},
    message: { type: 'string' },
    reason: { type: 'string' },
    question: { type: 'string' },
    context: { type: 'string' },
    resume_to: { type: 'string', enum: ['reflecting', 'controller'] },
  },
  additionalProperties: false,
};

export const CONTROLLER_FIELDS: readonly string[] = Object.keys(
  CONTROLLER_SCHEMA['properties'] as JsonObject,
);

/** Not strict: strict modes require every field to be required and typed. The output is checked here anyway. */
export const CONTROLLER_FORMAT: ResponseFormat = {
  type: 'json_schema',
  name: 'controller_action',
  schema: CONTROLLER_SCHEMA,
  strict: false,
};
