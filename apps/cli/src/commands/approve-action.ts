import type { OrionOptions } from '@orion/agent';
import type { CommandAction, McpAction } from '@orion/contracts';

import type { CommandContext } from '../process/context.ts';
import { askApproval } from '../terminal/ask.ts';
import { diffLine } from '../terminal/diff-text.ts';
import { plural } from '../terminal/format.ts';

/** Lines of a command that are shown; a longer one is refused, since nobody would read it to its end. */
const MAX_LINES = 200;

type Shown = {
  readonly intro: readonly string[];
  /** What would run, whole. */
  readonly lines: readonly string[];
  readonly question: string;
};

/** Shows a person what is about to run, all of it, and asks. */
export function actionReview(
  context: CommandContext,
): Required<Pick<OrionOptions, 'reviewAction'>> {
  return {
    async reviewAction(action, signal) {
      const { screen } = context;
      const { intro, lines, question } =
        action.kind === 'mcp' ? shownCall(action) : shownCommand(action);
      if (lines.length > MAX_LINES) {
        return { approved: false, reason: `it has more than ${MAX_LINES} lines` };
      }
      for (const line of intro) screen.line(line, 'warning');
      for (const line of lines) screen.line(`  ${diffLine(line)}`, 'warning');
      const asked = `${question} What it changes cannot be undone.`;
      return askApproval(context, asked, {}, signal);
    },
  };
}

function shownCommand({ command, folder }: CommandAction): Shown {
  const lines = command.split('\n');
  const what = `Run ${lines.length === 1 ? 'it' : `these ${plural(lines.length, 'line')}`}`;
  return {
    intro: [`A command is about to run in ${diffLine(folder)}:`],
    lines,
    question: `${what} in ${diffLine(folder)}?`,
  };
}

function shownCall({ server, tool, place, arguments: args, changed = [] }: McpAction): Shown {
  return {
    intro: [
      `The tool ${diffLine(tool)} of the MCP server ${server} is about to be called.`,
      `Server: ${diffLine(place)}`,
      ...(changed.length === 0
        ? []
        : [`Since you last agreed to this tool, its ${changed.join(' and ')} changed.`]),
      'Arguments:',
    ],
    lines: JSON.stringify(args, null, 2).split('\n'),
    question: `Call ${diffLine(tool)} of ${server} with these arguments?`,
  };
}
