import type { OrionOptions } from '@orion/agent';

import type { CommandContext } from '../process/context.ts';
import { readTypedLine } from '../terminal/ask.ts';
import { diffLine } from '../terminal/diff-text.ts';

/** Lines of a command that are shown; a longer one is refused, since nobody would read it to its end. */
const MAX_LINES = 200;

/** Shows a person the shell line that is about to run, all of it, and asks. */
export function actionReview(
  context: CommandContext,
): Required<Pick<OrionOptions, 'reviewAction'>> {
  return {
    async reviewAction({ command, folder }, signal) {
      const { screen } = context;
      const lines = command.split('\n');
      if (lines.length > MAX_LINES) {
        return { approved: false, reason: `it has more than ${MAX_LINES} lines` };
      }
      screen.line(`A command is about to run in ${diffLine(folder)}:`, 'warning');
      for (const line of lines) screen.line(`  ${diffLine(line)}`, 'warning');
      screen.ask('Run it? What it changes cannot be undone. (y/N) ');
      const typed = await readTypedLine(context.stdin, signal);
      if (typed === null) return { approved: false, reason: 'nobody answered' };
      screen.answered();
      const isYes = ['y', 'yes'].includes(typed.trim().toLowerCase());
      return isYes ? { approved: true } : { approved: false, reason: 'the person said no' };
    },
  };
}
