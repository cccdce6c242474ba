import { OrionError } from '@orion/contracts';

const SHOWN_ISSUES = 5;

/** Describes which arguments are wrong and how, so that a model can correct them. */
export function argumentsDoNotFit(toolName: string, issues: readonly string[]): OrionError {
  const shown = issues.slice(0, SHOWN_ISSUES);
  const more = issues.length - shown.length;
  return new OrionError({
    code: 'INVALID_TOOL_ARGUMENTS',
    message: `The arguments of ${toolName} do not fit: ${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}`,
    hint: 'Correct the named arguments and call again.',
  });
}
