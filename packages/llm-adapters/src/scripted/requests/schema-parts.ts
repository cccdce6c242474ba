import type { z } from 'zod';

/** The faults of a request, one sentence each, with their places. */
export function words(error: z.ZodError): readonly string[] {
  return error.issues.map((issue) => `${issue.path.map(String).join('.')}: ${issue.message}`);
}
