import type { JsonObject, ResponseFormat } from '@orion/contracts';

/**
 * The one shape of everything that a controller model says (R187).
 *
 * 1. Flat: no alternatives (oneOf, anyOf, allOf, if) at any depth and no nested step, since providers strip what
 *    they do not know, and a field that becomes optional that way lets a model leave out what it is to do.
 * 2. No step that only thinks: thinking is a field of every action.
 * 3. `args` has no type, so that no alternative is needed for it; no numeric bounds, which providers strip too.
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

/** Not strict: strict modes want every field required and typed. What comes back is checked here anyway. */
export const CONTROLLER_FORMAT: ResponseFormat = {
  type: 'json_schema',
  name: 'controller_action',
  schema: CONTROLLER_SCHEMA,
  strict: false,
};
