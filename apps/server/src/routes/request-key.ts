import { createHash } from 'node:crypto';

import { z } from '@hono/zod-openapi';
import type { RequestKey } from '@orion/contracts';
import canonicalize from 'canonicalize';

import { optional } from './shared.schemas.ts';
import type { FieldsSchema } from './shared.schemas.ts';

/** The header of requests that may be repeated when their answer is lost. */
export type KeyHeaders = { readonly 'idempotency-key'?: string };

export const keyHeaders: FieldsSchema<KeyHeaders> = z.object({
  'idempotency-key': optional(
    z
      .string()
      .regex(/^[\x21-\x7e]{1,255}$/, 'expected 1 to 255 visible ASCII characters')
      .openapi({
        description:
          'Repeating a request with the same key within 24 hours creates nothing new: the answer is about what the first one created.',
        example: '3f0c1b0e-7d0a-4a52-9a0f-1f6d5b1d9a77',
      }),
  ),
});

/** What the key of a request stands for; null without one. */
export function requestKeyOf(
  { 'idempotency-key': key }: KeyHeaders,
  route: string,
  body: unknown,
): RequestKey | null {
  if (key === undefined) return null;
  const bodySha256 = createHash('sha256')
    .update(canonicalize(body) ?? '')
    .digest('hex');
  return { key, route, bodySha256 };
}
