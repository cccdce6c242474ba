import type { ErrorInfo } from '@orion/contracts';

import { clip } from '../terminal/format.ts';
import { withPlace } from './write-lines.ts';

/**
 * An error as a person reads it: code, message, and the next step on a line of its own. `place` is what a command needs
 * to find the workspace from here (`withPlace`).
 */
export function errorLines(error: ErrorInfo, place: string): readonly string[] {
  return [`orion: ${error.code}: ${error.message}`, ...hintLines(error, place)];
}

/** Most characters of what a tool says went wrong: it may quote what a model wrote. */
const TOOL_MESSAGE = 300;

/** A call that failed or was refused: the model continues, and a person may have to decide something. */
export function failedCallLines(
  toolName: string,
  error: ErrorInfo,
  place: string,
): readonly string[] {
  return [
    `${toolName}: ${error.code}: ${clip(error.message, TOOL_MESSAGE)}`,
    ...(FOR_THE_MODEL.has(error.code) ? [] : hintLines(error, place)),
  ];
}

/** What only the model can do better: it reads the next step in the result of its call. */
const FOR_THE_MODEL: ReadonlySet<ErrorInfo['code']> = new Set<ErrorInfo['code']>([
  'UNKNOWN_TOOL',
  'INVALID_TOOL_ARGUMENTS',
  'ARGUMENTS_TOO_LARGE',
  'CONTENT_IN_ARGUMENTS',
  'TOOL_FAILED',
  'DUPLICATE_BLOCKED',
  'FILE_NOT_FOUND',
  'SESSION_ALREADY_ACTIVE',
  'EMPTY_CONTENT',
  'TARGET_NOT_UTF8',
  'INVALID_PLAN',
  'INVALID_OPERATION',
  'MARKER_NOT_FOUND',
  'MARKER_NOT_UNIQUE',
  'MARKER_TIMEOUT',
  'NO_MATCH',
  'COUNT_MISMATCH',
  'INVALID_TARGET',
  'FILE_EXISTS',
  'IS_DIRECTORY',
  'NOT_A_FILE',
]);

function hintLines({ hint }: ErrorInfo, place: string): readonly string[] {
  if (hint === undefined || hint === '') return [];
  return [`  ${inPlace(hint, place)}`];
}

/** A text whose commands can be typed here as they stand: without `place` one would act on another workspace. */
export function inPlace(text: string, place: string): string {
  return text.replaceAll(COMMAND, (_, command: string) => `\`${withPlace(command, place)}\``);
}

/** Help is the same everywhere. */
const COMMAND = /`(orion (?![^`]*\bhelp\b)[^`]+)`/gu;
