import { z } from '@hono/zod-openapi';
import type { LiveAnswer, ReadyAnswer } from '@orion/contracts';

export const liveAnswer: z.ZodType<LiveAnswer> = z
  .strictObject({ status: z.literal('ok') })
  .openapi('Live');

export const readyAnswer: z.ZodType<ReadyAnswer> = z
  .strictObject({
    status: z.enum(['ok', 'unavailable', 'stopping']),
    services: z.strictObject({
      store: z.enum(['ok', 'unavailable']),
      disk: z.enum(['ok', 'unavailable', 'full']),
    }),
  })
  .openapi('Ready');
