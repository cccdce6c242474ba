import { z } from '@hono/zod-openapi';
import type {
  OutputAnswer,
  OutputCountAnswer,
  OutputCountRequest,
  OutputExtractAnswer,
  OutputExtractRequest,
  OutputQuery,
  OutputSampleAnswer,
  OutputSampleRequest,
  OutputsAnswer,
  OutputScope,
  OutputsQuery,
  OutputStatsAnswer,
  OutputStatsQuery,
} from '@orion/contracts';

import {
  idText,
  jsonObject,
  jsonValue,
  optional,
  time,
  truth,
  wholeNumber,
} from './shared.schemas.ts';
import type { FieldsSchema } from './shared.schemas.ts';

const MOST_PATHS = 50;
const LONGEST_PATH = 10_000;
/** As the operation itself takes it. */
const MOST_LEFT_OUT = 1_000_000_000;
const ANY_COUNT = { min: 0, max: Number.MAX_SAFE_INTEGER };

const scopeFields = {
  projectId: optional(idText),
  conversation_id: optional(idText).openapi({
    description: 'Refuses an output of another conversation.',
  }),
};
const path = z.string().min(1).max(LONGEST_PATH).openapi({
  description: 'A JSONPath (RFC 9535).',
  example: '$.items[*].id',
});
const paths = z.array(path).min(1).max(MOST_PATHS);
const moment = wholeNumber({
  ...ANY_COUNT,
  description: 'Seconds or milliseconds since the epoch.',
});

export const outputScope: FieldsSchema<OutputScope> = z.strictObject(scopeFields);

export const outputParams: FieldsSchema<{ readonly id: string }> = z.strictObject({
  id: idText.openapi({ description: 'The id of a stored output.' }),
});

export const outputsQuery: FieldsSchema<OutputsQuery> = z.strictObject({
  ...scopeFields,
  tool_name: optional(idText),
  success: optional(truth),
  after: optional(moment),
  before: optional(moment),
  sort: optional(z.enum(['newest', 'oldest'])),
  limit: optional(wholeNumber({ min: 1, max: 100, standard: 20 })),
  offset: optional(wholeNumber({ min: 0, max: MOST_LEFT_OUT, standard: 0 })),
  preview_length: optional(wholeNumber({ min: 0, max: 500, standard: 100 })),
});

export const outputsAnswer: z.ZodType<OutputsAnswer> = z
  .strictObject({
    outputs: z.array(
      z.strictObject({
        id: z.string(),
        tool_name: z.string(),
        conversation_id: z.string(),
        created_at: time,
        success: z.boolean(),
        size_bytes: z.int(),
        size_chars: z.int(),
        cut: optional(z.literal(true)).openapi({
          description: 'It was too large: what is stored is the beginning of its text.',
        }),
        preview: optional(z.string()),
      }),
    ),
    total: z.int(),
    has_more: z.boolean(),
  })
  .openapi('ToolOutputs');

export const outputQuery: FieldsSchema<OutputQuery> = z.strictObject({
  ...scopeFields,
  offset: optional(wholeNumber({ ...ANY_COUNT, description: 'The first character of a part.' })),
  limit: optional(wholeNumber({ min: 1, max: 16_384, description: 'Characters of a part.' })),
});

export const outputAnswer: z.ZodType<OutputAnswer> = z.union([
  z
    .strictObject({
      id: z.string(),
      tool_name: z.string(),
      conversation_id: z.string(),
      message_id: z.string(),
      created_at: time,
      success: z.boolean(),
      parameters: jsonValue,
      output: jsonValue,
    })
    .openapi('ToolOutput'),
  z
    .strictObject({
      id: z.string(),
      offset: z.int(),
      total_chars: z.int(),
      text: z.string(),
    })
    .openapi('ToolOutputPart'),
]);

export const statsQuery: FieldsSchema<OutputStatsQuery> = z.strictObject({
  ...scopeFields,
  paths: optional(
    z
      .union([path, paths])
      .transform((given) => (typeof given === 'string' ? [given] : given))
      .openapi({
        type: 'array',
        items: { type: 'string', minLength: 1, maxLength: LONGEST_PATH },
        minItems: 1,
        maxItems: MOST_PATHS,
        param: { style: 'form', explode: true },
        description: 'The places to describe, each as a parameter of its own; all when left out.',
      }),
  ),
  max_depth: optional(wholeNumber({ min: 1, max: 10, standard: 5 })),
  include_schema: optional(truth),
});

export const statsAnswer: z.ZodType<OutputStatsAnswer> = z
  .object({
    id: z.string(),
    tool_name: z.string(),
    created_at: time,
    size: z.strictObject({
      bytes: z.int(),
      characters: z.int(),
      formatted: z.string(),
      cut: optional(z.literal(true)),
    }),
  })
  .catchall(jsonValue)
  .openapi('ToolOutputStats', {
    description:
      'With `structure`, `types`, `arrays`, `objects` and `schema`, or with these for each of `paths`.',
  });

export const extractRequest: z.ZodType<OutputExtractRequest> = z
  .strictObject({
    paths: optional(paths).openapi({ default: ['$'] }),
    flatten: optional(z.boolean()).openapi({ description: 'All matches in one list.' }),
    include_paths: optional(z.boolean()).openapi({
      description: 'Each match with its own path.',
    }),
    default_value: optional(jsonValue).openapi({
      description: 'Stands for a path without a match; null when left out.',
    }),
  })
  .openapi('ExtractRequest', { example: { paths: ['$.items[*].id'], flatten: true } });

export const extractAnswer: z.ZodType<OutputExtractAnswer> = z
  .strictObject({
    extracted: z.union([z.array(jsonValue), jsonObject]),
    missing_paths: z.array(z.string()),
  })
  .openapi('Extracted');

export const countRequest: z.ZodType<OutputCountRequest> = z
  .strictObject({
    queries: z
      .array(
        z.strictObject({
          name: optional(z.string()).openapi({
            description: 'In the answer; the path when left out.',
          }),
          path,
          count: optional(
            z.enum(['array_length', 'object_keys', 'matches', 'nested_total']),
          ).openapi({ default: 'array_length' }),
          filter: optional(z.string().min(1)).openapi({
            description: 'Counts only what it holds for.',
          }),
        }),
      )
      .min(1)
      .max(MOST_PATHS),
  })
  .openapi('CountRequest', {
    example: { queries: [{ name: 'open', path: '$.items', filter: "@.status == 'open'" }] },
  });

export const countAnswer: z.ZodType<OutputCountAnswer> = z
  .strictObject({ counts: z.record(z.string(), z.int()), total: z.int() })
  .openapi('Counted');

export const sampleRequest: z.ZodType<OutputSampleRequest> = z
  .strictObject({
    path: optional(path).openapi({ default: '$' }),
    size: optional(z.int().min(1).max(1000)).openapi({ default: 10 }),
    method: optional(z.enum(['random', 'first', 'last', 'systematic', 'stratified'])).openapi({
      default: 'random',
    }),
    seed: optional(z.int()).openapi({ description: 'The same seed takes the same items.' }),
    stride: optional(z.int().min(1)).openapi({
      description: 'Of `systematic`: the distance between items.',
    }),
    strata_path: optional(path).openapi({
      description: 'Of `stratified`: what distinguishes the kinds of items, such as `$.type`.',
    }),
  })
  .openapi('SampleRequest', { example: { path: '$.items', size: 5, method: 'first' } });

export const sampleAnswer: z.ZodType<OutputSampleAnswer> = z
  .strictObject({
    path: z.string(),
    method: z.string(),
    seed: optional(z.int()),
    total: z.int(),
    sample_size: z.int(),
    indices: z.array(z.int()),
    items: z.array(jsonValue),
    warning: optional(z.string()),
  })
  .openapi('Sample');
