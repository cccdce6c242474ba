import { OrionError } from '@orion/contracts';
import type { JsonObject } from '@orion/contracts';
import { z } from 'zod';

/** Throws INVALID_TOOL_ARGUMENTS for arguments that do not fit. */
export type CheckArguments = (args: JsonObject) => void;

/** The check that a tool's own JSON Schema describes. */
export function compileSchema(toolName: string, parameters: JsonObject): CheckArguments {
  const schema = z.fromJSONSchema(parameters as Parameters<typeof z.fromJSONSchema>[0]);
  return (args) => {
    const checked = schema.safeParse(args);
    if (!checked.success) throw invalidArguments(toolName, checked.error);
  };
}

const SHOWN_ISSUES = 5;

/** Says which argument is wrong and how, in words that a model can act on. */
export function invalidArguments(toolName: string, error: z.ZodError): OrionError {
  const issues = error.issues.slice(0, SHOWN_ISSUES).map((issue) => {
    const path = issue.path.map(String).join('.');
    return path === '' ? issue.message : `${path}: ${issue.message}`;
  });
  const more = error.issues.length - issues.length;
  return new OrionError({
    code: 'INVALID_TOOL_ARGUMENTS',
    message: `The arguments of ${toolName} do not fit: ${issues.join('; ')}${more > 0 ? `; and ${more} more` : ''}`,
    hint: 'Correct the named arguments and call again.',
  });
}
