import type { ErrorInfo } from '@orion/contracts';

import { clip } from '../terminal/format.ts';

/** An error as a person reads it: code, message, and the next step on a line of its own. */
export function errorLines(error: ErrorInfo): readonly string[] {
  return [`orion: ${error.code}: ${error.message}`, ...hintLines(error)];
}

/** Most characters of what a tool says went wrong: it may quote what a model wrote. */
const TOOL_MESSAGE = 300;

/** A call that failed or was refused: the model goes on, and a person may have to decide something. */
export function failedCallLines(toolName: string, error: ErrorInfo): readonly string[] {
  return [`${toolName}: ${error.code}: ${clip(error.message, TOOL_MESSAGE)}`, ...hintLines(error)];
}

function hintLines({ hint }: ErrorInfo): readonly string[] {
  return hint === undefined || hint === '' ? [] : [`  ${hint}`];
}
