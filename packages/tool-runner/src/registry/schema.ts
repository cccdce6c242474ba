import type { OrionError } from '@orion/contracts';
import type { z } from 'zod';

import { argumentsDoNotFit } from './misfit.ts';

/** Says which argument is wrong and how, in words that a model can act on. */
export function invalidArguments(toolName: string, error: z.ZodError): OrionError {
  return argumentsDoNotFit(
    toolName,
    error.issues.map((issue) => {
      const path = issue.path.map(String).join('.');
      return path === '' ? issue.message : `${path}: ${issue.message}`;
    }),
  );
}
