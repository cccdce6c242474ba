import type { OrionOptions } from '@orion/agent';

import type { CommandContext } from '../process/context.ts';
import { confirm } from '../terminal/ask.ts';
import { diffLine } from '../terminal/diff-text.ts';
import { interrupted } from './prompt.ts';

/** Asks about each protected path once, where a person can answer; elsewhere nothing is asked. */
export function protectedPathQuestion(
  context: CommandContext,
  signal: AbortSignal,
): Pick<OrionOptions, 'confirmProtectedPath'> {
  if (!context.interactive) return {};
  return {
    confirmProtectedPath: (path, rule) =>
      confirm(context, diffLine(`${path} is protected (${rule}). Write it? (y/N) `), signal).catch(
        (error: unknown) => {
          throw signal.aborted ? interrupted() : error;
        },
      ),
  };
}
