import type { ErrorCode, ToolResult, TurnState } from '@orion/contracts';

/** Failures that name the wrong argument. A model that corrects one may run into another. */
const OF_ARGUMENTS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'INVALID_TOOL_ARGUMENTS',
  'ARGUMENTS_TOO_LARGE',
  'CONTENT_IN_ARGUMENTS',
]);

/**
 * Describes why a call did not run. The same mistake always has the same description, so sizes and positions, which
 * change with each attempt, are left out. Null for a call that ran, and for one that was not approved: the model could
 * not know that.
 */
export function mistakeOf(result: ToolResult): string | null {
  if (result.success || result.attempts > 0) return null;
  const { code, message } = result.error;
  if (code === 'APPROVAL_REFUSED') return null;
  if (!OF_ARGUMENTS.has(code)) return code;
  return `${result.toolName} ${code} ${message.replaceAll(/\d+/g, '#')}`;
}

/**
 * Records the mistakes of a message in which no call ran (R164). Only the same mistakes in a row are counted.
 * `mistakes` is empty if a call of the message ran.
 */
export function noteMistakes(turnState: TurnState, mistakes: readonly string[]): void {
  const made = mistakes.length === 0 ? null : [...new Set(mistakes)].join('\n');
  if (made === null) turnState.refusedInARow = 0;
  else turnState.refusedInARow = made === turnState.lastMistake ? turnState.refusedInARow + 1 : 1;
  turnState.lastMistake = made;
}
