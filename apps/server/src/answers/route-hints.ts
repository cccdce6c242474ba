import { ERROR_CODES } from '@orion/contracts';
import type { ErrorCode, RunEvent } from '@orion/contracts';

/** Next steps that name routes, in place of those that a model or a person at a terminal is given. */
export const ROUTE_HINTS: Readonly<Partial<Record<ErrorCode, string>>> = {
  USAGE: 'Correct the request; /openapi.json describes it.',
  ARGUMENTS_TOO_LARGE:
    'Say in a few words what the change is for; the text goes to PUT /api/write-sessions/{id}/content.',
  CONTENT_IN_ARGUMENTS: 'Send the text to PUT /api/write-sessions/{id}/content.',
  INVALID_TOOL_ARGUMENTS: 'Correct the request; /openapi.json describes it.',
  SESSION_NOT_FOUND: 'GET /api/write-sessions lists the existing ones.',
  SESSION_DAMAGED:
    'GET /api/write-sessions/{id}/content answers with what can be read of its text.',
  SESSION_FOREIGN: 'GET /api/write-sessions/{id}/content answers with its text.',
  SESSION_ABORTED: 'POST /api/write-sessions/{id}/recover brings it back.',
  UPLOAD_CLOSED:
    'POST /api/write-sessions/{id}/corrections corrects the text, DELETE /api/write-sessions/{id} puts it aside.',
  TARGET_LOCKED:
    'Another write session holds this file: see GET /api/write-sessions; wait for it, put it aside with DELETE /api/write-sessions/{id}, or cancel its turn with POST /api/turns/{id}/cancel.',
  TARGET_CHANGED:
    'Nothing was overwritten. POST /api/write-sessions/{id}/recover with finalize, and with onConflict "overwrite" (a backup is kept) or "keep-both".',
  FILE_EXISTS:
    'Begin with overwrite or append, or choose another name. A session that has its text: POST /api/write-sessions/{id}/recover with finalize and onConflict.',
  EMPTY_CONTENT:
    'Send the text to PUT /api/write-sessions/{id}/content. Only a new file may be empty: POST /api/write-sessions/{id}/finalize with allowEmpty.',
  NO_DONE: 'POST /api/write-sessions/{id}/recover with finalize writes what is saved.',
  SEAM_UNVERIFIED: 'POST /api/write-sessions/{id}/recover with finalize writes what is saved.',
  QUESTION_OPEN: 'POST /api/write-sessions/{id}/recover with finalize and the answer.',
  INVALID_PLAN: 'Correct the plan; /openapi.json describes it.',
  INVALID_OPERATION: 'Correct the operation; /openapi.json describes it.',
  APPROVAL_STALE: 'POST /api/plans/preview shows what the plan would do now.',
  CHANGE_NOT_FOUND: 'GET /api/changes lists the existing ones.',
  BACKUP_FOREIGN: 'GET /api/changes/{id}/diff shows what it would restore before you force it.',
  CONVERSATION_NOT_FOUND: 'GET /api/conversations lists the existing ones.',
  TRACE_NOT_FOUND: 'GET /api/traces lists the existing ones.',
  TURN_NOT_FOUND: 'GET /api/turns lists the existing ones.',
  TURN_FINISHED: 'GET /api/turns/{id}/events has its events.',
  INVALID_OUTPUT_ID: 'GET /api/tool-outputs lists the existing ones.',
  OUTPUT_NOT_FOUND: 'GET /api/tool-outputs lists the existing ones.',
};

/** Steps of the library, a terminal or a model, for which the route of the code is the better word. */
const OTHER_WORDS =
  /`orion |(?:^|\s)--[a-z]|docs\/guides|WritePlanTool|call again|^(?:Call one of|Copy the text of|Preview the plan|Recover (?:it|the session)|Say in a few words|Upload the text)/u;

/** A step that an error brings with it, and that needs the name of its route. */
const FORCED_UNDO = /^Forced, the undo /u;

/**
 * The next step of an error for a client: the one that the error brings with it, else that of its code. The same code
 * comes from several routes, so that what is general may lead to another one.
 */
export function routeHint(code: ErrorCode, hint: string = ERROR_CODES[code]): string {
  if (hint.includes('/api/')) return hint;
  const ofCode = ROUTE_HINTS[code] ?? ERROR_CODES[code];
  if (OTHER_WORDS.test(hint)) return ofCode;
  return hint
    .replace(ERROR_CODES[code], ofCode)
    .replace(FORCED_UNDO, 'POST /api/changes/{id}/undo with force ');
}

/** The same for an event of a turn, which may have been stored by a command. */
export function inRouteWords(event: RunEvent): RunEvent {
  if (event.type !== 'error') return event;
  const { error } = event;
  return { ...event, error: { ...error, hint: routeHint(error.code, error.hint) } };
}
