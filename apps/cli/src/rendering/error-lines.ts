import type { ErrorInfo } from '@orion/contracts';

/** An error as a person reads it: code, message, and the next step on a line of its own. */
export function errorLines(error: ErrorInfo): readonly string[] {
  const lines = [`orion: ${error.code}: ${error.message}`];
  if (error.hint !== undefined && error.hint !== '') lines.push(`  ${error.hint}`);
  return lines;
}
