import type { CommandAction, McpAction, ToolAction } from '@orion/contracts';

import { diffLine } from '../terminal/diff-text.ts';
import { formatCount, plural } from '../terminal/format.ts';

/** Of what is shown; a longer one is refused, since nobody would read it to its end. */
const MAX_LINES = 200;
const MAX_CHARACTERS = 16_000;
/** More blank lines in a row are counted. */
const MAX_BLANK = 2;

/** What a person is shown of an action before it runs, all of it. */
export type ShownAction = {
  readonly intro: readonly string[];
  /** What would run, whole. */
  readonly lines: readonly string[];
  readonly question: string;
};

/** Null for one that is too long to review. */
export function shownAction(action: ToolAction): ShownAction | null {
  const { question, intro, ...given } =
    action.kind === 'mcp' ? shownCall(action) : shownCommand(action);
  if (given.lines.length > MAX_LINES) return null;
  const lines = foldBlank(given.lines).map((line) => diffLine(line));
  if (lines.reduce((sum, line) => sum + line.length, 0) > MAX_CHARACTERS) return null;
  return {
    intro,
    lines,
    question: `${question} What it changes cannot be undone.`,
  };
}

/** Blank lines would push what is above them off the screen. */
function foldBlank(lines: readonly string[]): readonly string[] {
  const folded: string[] = [];
  let blank: string[] = [];
  const endBlank = (): void => {
    folded.push(...(blank.length > MAX_BLANK ? [`[${blank.length} blank lines]`] : blank));
    blank = [];
  };
  for (const line of lines) {
    if (line.trim() === '') {
      blank.push(line);
    } else {
      endBlank();
      folded.push(line);
    }
  }
  endBlank();
  return folded;
}

/** Why it is refused. */
export const TOO_LONG: string = `it is too long to review: more than ${MAX_LINES} lines or ${formatCount(MAX_CHARACTERS)} characters`;

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
