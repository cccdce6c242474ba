import { z } from '@hono/zod-openapi';
import type {
  PageChallengeAnswer,
  PageChallengeRequest,
  PageLinkAnswer,
  PageSessionAnswer,
  PageSessionRequest,
  PageSignedOut,
} from '@orion/contracts';

import { idText, optional } from './shared.schemas.ts';
import type { FieldsSchema } from './shared.schemas.ts';

export const linkRequest: z.ZodType<{ readonly [field: string]: never }> = z
  .strictObject({})
  .openapi('PageLinkRequest', { example: {} });

export const linkAnswer: z.ZodType<PageLinkAnswer> = z
  .strictObject({ path: z.string() })
  .openapi('PageLink');

export const sessionRequest: z.ZodType<PageSessionRequest> = z
  .strictObject({ code: optional(z.string().max(100)) })
  .openapi('PageSessionRequest', {
    example: { code: 'mfi2c3k0.5f0c1b7a9d3e2468.0f1e2d3c4b5a69788796a5b4c3d2e1f0' },
  });

export const sessionAnswer: z.ZodType<PageSessionAnswer> = z
  .strictObject({ id: z.string(), key: z.string() })
  .openapi('PageSession');

export const signedOut: z.ZodType<PageSignedOut> = z
  .strictObject({ signedOut: z.literal(true) })
  .openapi('PageSignedOut');

export const challengeRequest: z.ZodType<PageChallengeRequest> = z
  .strictObject({
    id: idText,
    challenge: z.string().min(16).max(128),
  })
  .openapi('PageChallengeRequest', {
    example: {
      id: 'mfi2c3k0-0f1e2d3c4b5a69788796a5b4',
      challenge: '6b1f0a5cc0de4b2f9e8d7c6b5a493827',
    },
  });

export const challengeAnswer: z.ZodType<PageChallengeAnswer> = z
  .strictObject({ proof: z.string() })
  .openapi('PageChallenge');

export const endParams: FieldsSchema<{ readonly id: string }> = z.strictObject({ id: idText });
