import type { OrionOptions } from '@orion/agent';

import { shownAction, TOO_LONG } from '../approvals/shown-action.ts';
import type { CommandContext } from '../process/context.ts';
import { askApproval } from '../terminal/ask.ts';

/** Shows a person what is about to run, all of it, and asks. */
export function actionReview(
  context: CommandContext,
): Required<Pick<OrionOptions, 'reviewAction'>> {
  return {
    async reviewAction(action, signal) {
      const { screen } = context;
      const shown = shownAction(action);
      if (shown === null) return { approved: false, reason: TOO_LONG };
      for (const line of shown.intro) screen.line(line, 'warning');
      for (const line of shown.lines) screen.line(`  ${line}`, 'warning');
      return askApproval(context, shown.question, {}, signal);
    },
  };
}
