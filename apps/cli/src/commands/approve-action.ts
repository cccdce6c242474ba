import type { OrionOptions } from '@orion/agent';

import type { CommandContext } from '../process/context.ts';
import { askApproval } from '../terminal/ask.ts';
import { diffLine } from '../terminal/diff-text.ts';
import { plural } from '../terminal/format.ts';

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
      const what = `Run ${lines.length === 1 ? 'it' : `these ${plural(lines.length, 'line')}`}`;
      const question = `${what} in ${diffLine(folder)}? What it changes cannot be undone.`;
      return askApproval(context, question, {}, signal);
    },
  };
}
