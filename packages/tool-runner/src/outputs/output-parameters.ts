/** What the tools for stored outputs take, as JSON Schema: unknown arguments are refused (R212). */
import type { JsonObject } from '@orion/contracts';

const MAX_PATHS = 50;
/** No store has more outputs, and every one can count so far. */
const MAX_OFFSET = 1_000_000_000;

const ID = { type: 'string', description: 'The stored output; the latest one when left out' };
const CONVERSATION = {
  type: 'string',
  description: 'Its conversation; this one when left out',
};
const PATHS = {
  type: 'array',
  items: { type: 'string', minLength: 1 },
  minItems: 1,
  maxItems: MAX_PATHS,
};

export const LIST_PARAMETERS: JsonObject = closed({
  conversation_id: CONVERSATION,
  tool_name: { type: 'string', description: 'Only outputs of this tool' },
  success: { type: 'boolean' },
  after: { type: 'number', description: 'Only newer ones: seconds or milliseconds since 1970' },
  before: { type: 'number', description: 'Only older ones: seconds or milliseconds since 1970' },
  sort: { enum: ['newest', 'oldest'], default: 'newest' },
  limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
  offset: { type: 'integer', minimum: 0, maximum: MAX_OFFSET, default: 0 },
  preview_length: { type: 'integer', minimum: 0, maximum: 500, default: 100 },
});

export const STATS_PARAMETERS: JsonObject = closed({
  id: ID,
  conversation_id: CONVERSATION,
  paths: { ...PATHS, description: 'JSONPaths of the places to describe; all when left out' },
  max_depth: { type: 'integer', minimum: 1, maximum: 10, default: 5 },
  include_schema: { type: 'boolean', default: false },
});

export const EXTRACT_PARAMETERS: JsonObject = closed({
  id: ID,
  conversation_id: CONVERSATION,
  paths: { ...PATHS, default: ['$'] },
  flatten: { type: 'boolean', default: false, description: 'All matches in one list' },
  include_paths: { type: 'boolean', default: false, description: 'Each match with its own path' },
  default_value: { description: 'Stands for a path without a match; null when left out' },
});

export const COUNT_PARAMETERS: JsonObject = closed(
  {
    id: ID,
    conversation_id: CONVERSATION,
    queries: {
      type: 'array',
      minItems: 1,
      maxItems: MAX_PATHS,
      items: closed(
        {
          name: { type: 'string', description: 'In the answer; the path when left out' },
          path: { type: 'string', minLength: 1 },
          count: {
            enum: ['array_length', 'object_keys', 'matches', 'nested_total'],
            default: 'array_length',
          },
          filter: {
            type: 'string',
            minLength: 1,
            description: "Counts only what it holds for, such as @.status == 'open'",
          },
        },
        ['path'],
      ),
    },
  },
  ['queries'],
);

export const SAMPLE_PARAMETERS: JsonObject = closed({
  id: ID,
  conversation_id: CONVERSATION,
  path: { type: 'string', minLength: 1, default: '$', description: 'The array' },
  size: { type: 'integer', minimum: 1, maximum: 1_000, default: 10 },
  method: {
    enum: ['random', 'first', 'last', 'systematic', 'stratified'],
    default: 'random',
  },
  seed: { type: 'integer', default: 0, description: 'The same seed takes the same items' },
  stride: { type: 'integer', minimum: 1, description: 'systematic: the distance between items' },
  strata_path: {
    type: 'string',
    minLength: 1,
    description: 'stratified: what tells the kinds of items apart, such as $.type',
  },
});

export const READ_PARAMETERS: JsonObject = closed({
  id: ID,
  conversation_id: CONVERSATION,
  offset: { type: 'integer', minimum: 0, description: 'The first character of a part' },
  limit: { type: 'integer', minimum: 1, maximum: 16_384, description: 'Characters of a part' },
});

function closed(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return {
    type: 'object',
    properties,
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}
