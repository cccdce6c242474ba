import type { OrionOptions } from '@orion/agent';

import type { CommandContext } from '../process/context.ts';
import { readTypedLine } from '../terminal/ask.ts';
import { diffLine } from '../terminal/diff-text.ts';

/** Asks about each protected path once, where a person can answer; elsewhere nothing is asked. */
export function protectedPathQuestion(
  context: CommandContext,
  signal: AbortSignal,
): Pick<OrionOptions, 'confirmProtectedPath'> {
  if (!context.interactive) return {};
  return {
    confirmProtectedPath: async (path, rule) => {
      context.screen.ask(diffLine(`${path} is protected (${rule}). Write it? (y/N) `));
      const typed = await readTypedLine(context.stdin, signal);
      if (typed === null) return false;
      context.screen.answered();
      return ['y', 'yes'].includes(typed.trim().toLowerCase());
    },
  };
}
