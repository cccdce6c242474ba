import type { CommandAction, McpAction, ToolAction } from '@orion/contracts';

import { diffLine } from '../terminal/diff-text.ts';
import { plural } from '../terminal/format.ts';

/** Lines of a command that are shown; a longer one is refused, since nobody would read it to its end. */
const MAX_LINES = 200;

/** What a person is shown of an action before it runs, all of it. */
export type ShownAction = {
  readonly intro: readonly string[];
  /** What would run, whole. */
  readonly lines: readonly string[];
  readonly question: string;
};

/** Null for one that is too long to be judged. */
export function shownAction(action: ToolAction): ShownAction | null {
  const { lines, question, intro } =
    action.kind === 'mcp' ? shownCall(action) : shownCommand(action);
  if (lines.length > MAX_LINES) return null;
  return {
    intro,
    lines: lines.map((line) => diffLine(line)),
    question: `${question} What it changes cannot be undone.`,
  };
}

/** Why it is refused. */
export const TOO_LONG: string = `it has more than ${MAX_LINES} lines`;

function shownCommand({ command, folder }: CommandAction): ShownAction {
  const lines = command.split('\n');
  const what = `Run ${lines.length === 1 ? 'it' : `these ${plural(lines.length, 'line')}`}`;
  return {
    intro: [`A command is about to run in ${diffLine(folder)}:`],
    lines,
    question: `${what} in ${diffLine(folder)}?`,
  };
}

function shownCall({ server, tool, place, arguments: args, changed = [] }: McpAction): ShownAction {
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
