import { isFields, parseFields } from '@orion/contracts';
import { z } from 'zod';

import type { ProviderRequest } from './provider-request.ts';

/** Reads a request, or lists everything that a strict server would refuse in it. */
export type RequestReader = (body: unknown) => {
  readonly violations: readonly string[];
  /** Set only if there are no violations. */
  readonly request?: ProviderRequest;
};

/** `check` finds what a schema cannot express. `check` and `read` only get requests that match the schema. */
export function createRequestReader<Request>(
  schema: z.ZodType<Request>,
  check: (request: Request) => readonly string[],
  read: (request: Request) => ProviderRequest,
): RequestReader {
  return (body) => {
    const { success, data, error } = schema.safeParse(body);
    if (!success)
      return {
        violations: error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`),
      };
    const violations = check(data);
    return violations.length === 0 ? { violations, request: read(data) } : { violations };
  };
}

/** The name of a tool or schema in OpenAI's formats. */
export const openAiName: z.ZodType<string> = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/);

/** The parameters of a tool in OpenAI's formats. */
export const openAiParameters: z.ZodType<object> = z
  .looseObject({ type: z.literal('object'), properties: z.looseObject({}) })
  .refine(
    (schema) => !['oneOf', 'anyOf', 'allOf', 'enum', 'not'].some((keyword) => keyword in schema),
    { error: "schema must not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level" },
  )
  .refine((schema) => !hasArrayWithoutItems(schema), { error: 'array schema missing items' });

function hasArrayWithoutItems(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasArrayWithoutItems);
  if (!isFields(value)) return false;
  const isArray = [value['type']].flat().includes('array');
  return (isArray && !('items' in value)) || Object.values(value).some(hasArrayWithoutItems);
}

export const argumentsText: z.ZodType<string> = z
  .string()
  .refine((text) => parseFields(text) !== null, { error: 'is not the text of a JSON object' });

export const TOOL_CHOICE_NEEDS_TOOLS: { readonly error: string; readonly path: string[] } = {
  error: 'tool_choice is only allowed when tools are given',
  path: ['tool_choice'],
};

/** The text of a content that is a string or a list of parts. */
export function textOf(content: string | readonly { readonly text: string }[]): string {
  return typeof content === 'string' ? content : content.map((part) => part.text).join('');
}
