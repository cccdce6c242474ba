import type { ErrorCode, ToolResult, TurnState } from '@orion/contracts';

/** Failures that say which argument was wrong: a model that corrects one of them may make another. */
const OF_ARGUMENTS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'INVALID_TOOL_ARGUMENTS',
  'ARGUMENTS_TOO_LARGE',
  'CONTENT_IN_ARGUMENTS',
]);

/**
 * What was wrong with a call that did not run, in the same words whenever it is the same mistake: sizes and positions
 * change with each try. Null for a call that ran.
 */
export function mistakeOf(result: ToolResult): string | null {
  if (result.success || result.attempts > 0) return null;
  const { code, message } = result.error;
  if (!OF_ARGUMENTS.has(code)) return code;
  return `${result.toolName} ${code} ${message.replaceAll(/\d+/g, '#')}`;
}

/**
 * Notes the mistakes of a message of which no call ran (R164): only the same ones again count. `mistakes` is empty
 * for a message of which something ran.
 */
export function noteMistakes(turnState: TurnState, mistakes: readonly string[]): void {
  const made = mistakes.length === 0 ? null : [...new Set(mistakes)].join('\n');
  if (made === null) turnState.refusedInARow = 0;
  else turnState.refusedInARow = made === turnState.lastMistake ? turnState.refusedInARow + 1 : 1;
  turnState.lastMistake = made;
}
