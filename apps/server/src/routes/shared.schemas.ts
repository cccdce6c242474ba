/** Parts that the schemas of several routes share. */
import { z } from '@hono/zod-openapi';
import { ERROR_CODES } from '@orion/contracts';
import type { ErrorCode, HttpErrorBody, JsonObject, JsonValue } from '@orion/contracts';

/** A schema of a query, of headers or of the parameters of a path. */
export type FieldsSchema<Fields> = z.ZodObject & z.ZodType<Fields>;

/**
 * A field that may be left out. The type is exact, since JSON has no `undefined`; the generator of the document knows
 * only the ordinary kind.
 */
export function optional<Schema extends z.ZodType>(schema: Schema): z.ZodExactOptional<Schema> {
  return schema.optional() as unknown as z.ZodExactOptional<Schema>;
}

const codes = Object.keys(ERROR_CODES) as ErrorCode[];

export const errorBody: z.ZodType<HttpErrorBody> = z
  .strictObject({
    error: z.strictObject({
      code: z.enum(codes).openapi({ description: 'Never renamed, never reused.' }),
      message: z.string(),
      hint: optional(z.string()).openapi({ description: 'The next step.' }),
      details: optional(z.record(z.string(), z.unknown())).openapi({
        description: 'What a program needs to correct its request.',
      }),
    }),
  })
  .openapi('Error', {
    example: {
      error: {
        code: 'CONVERSATION_NOT_FOUND',
        message: 'There is no conversation "b7c9".',
        hint: 'Look the id up in the list of conversations.',
      },
    },
  });

/** What is looked up or stored as it is: Postgres takes no U+0000. */
export const storableText: z.ZodString = z
  .string()
  .regex(/^[^\0]*$/, 'Invalid input: expected a text without U+0000');

/** Any id or label in a path or a query. What is not there is not found; this only bounds what is asked. */
export const idText: z.ZodType<string> = storableText.min(1).max(200);

/** Milliseconds since the epoch. */
export const time: z.ZodType<number> = z
  .number()
  .openapi({ description: 'Milliseconds since the epoch.', example: 1_790_000_000_000 });

/** Anything that JSON can say. */
export const jsonValue: z.ZodType<JsonValue> = z
  .union([
    z.string(),
    z.number(),
    z.boolean(),
    z.null(),
    z.array(z.any()),
    z.record(z.string(), z.any()),
  ])
  .openapi('Json', { description: 'Any JSON.' });

export const jsonObject: z.ZodType<JsonObject> = z.record(z.string(), jsonValue);

/** `true` or `false` in a query. */
export const truth: z.ZodType<boolean, string> = z
  .enum(['true', 'false'])
  .transform((text) => text === 'true')
  .openapi({ type: 'boolean' });

/** A whole number in a query. */
export function wholeNumber(bounds: {
  readonly min: number;
  readonly max: number;
  readonly standard?: number;
  readonly description?: string;
}): z.ZodType<number, string> {
  const { min, max, standard, description } = bounds;
  return z
    .string()
    .regex(/^\d{1,16}$/u, 'Invalid input: expected a whole number')
    .transform(Number)
    .pipe(z.int().min(min).max(max))
    .openapi({
      type: 'integer',
      minimum: min,
      maximum: max,
      ...(standard === undefined ? {} : { default: standard }),
      ...(description === undefined ? {} : { description }),
    });
}
