/** How a route describes what it takes and what it answers. */
import type { z } from '@hono/zod-openapi';
import type { TypedResponse } from 'hono';

type Json<Schema extends z.ZodType> = { readonly 'application/json': { readonly schema: Schema } };

/** A body that has to be there. */
export function jsonBody<Schema extends z.ZodType>(
  schema: Schema,
): { readonly required: true; readonly content: Json<Schema> } {
  return { required: true, content: { 'application/json': { schema } } };
}

/** An answer whose JSON is there already as a text, which is not read again. */
export function jsonText<Answer>(
  text: string,
  more: Readonly<Record<string, string>> = {},
): Response & TypedResponse<Answer, 200, 'json'> {
  const answer = new Response(text, { headers: { 'content-type': 'application/json', ...more } });
  return answer as Response & TypedResponse<Answer, 200, 'json'>;
}

/** An answer of JSON. */
export function jsonAnswer<Schema extends z.ZodType>(
  schema: Schema,
  description: string,
): { readonly description: string; readonly content: Json<Schema> } {
  return { description, content: { 'application/json': { schema } } };
}
