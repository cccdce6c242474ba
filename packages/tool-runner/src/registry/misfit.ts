import { OrionError } from '@orion/contracts';

const SHOWN_ISSUES = 5;

/** Says which arguments are wrong and how, in words that a model can act on. */
export function argumentsDoNotFit(toolName: string, issues: readonly string[]): OrionError {
  const shown = issues.slice(0, SHOWN_ISSUES);
  const more = issues.length - shown.length;
  return new OrionError({
    code: 'INVALID_TOOL_ARGUMENTS',
    message: `The arguments of ${toolName} do not fit: ${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}`,
    hint: 'Correct the named arguments and call again.',
  });
}
