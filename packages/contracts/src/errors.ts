import type { JsonObject } from './json.ts';

/**
 * Every error code that a user, a model or a client can see, with a default hint for the next step. The hints do not
 * mention the command line, which words its own options in apps/cli. Codes are never renamed or reused, because
 * scripts depend on them.
 */
export const ERROR_CODES = {
  // Configuration and usage
  CONFIG_INVALID: 'Correct the named setting and start again.',
  USAGE: 'Correct what was asked for.',
  PROVIDER_UNKNOWN: 'Choose one of: openai, openai-responses, anthropic, scripted.',
  MODEL_MISSING: 'Name a model.',
  API_KEY_MISSING: 'Give an API key, or the base URL of your own server.',
  SCRIPT_INVALID: 'Correct the script.',
  NODE_TOO_OLD: 'Install Node 22.19 or newer.',
  PROTOCOL_UNSUPPORTED: 'Choose another protocol.',
  // Providers
  PROVIDER_UNREACHABLE: 'Check the network and the base URL, then try again.',
  PROVIDER_AUTH: 'Check the API key.',
  PROVIDER_RATE_LIMIT: 'Wait a little, then try again.',
  PROVIDER_OVERLOADED: 'The provider is overloaded; try again later.',
  PROVIDER_CONTEXT_LIMIT:
    'The conversation is too long for the model; start a new one or choose another model.',
  PROVIDER_REQUEST: 'The provider refused the request; the message says why.',
  PROVIDER_ERROR: 'The provider failed; try again.',
  STREAM_TRUNCATED: 'The provider closed the stream before its end mark; try again.',
  STREAM_BROKEN: 'The connection to the provider broke; try again.',
  STREAM_STALLED: 'The provider stopped sending; try again.',
  STREAM_INVALID: 'The provider sent something that is not its own protocol.',
  ABORTED: 'The turn was cancelled.',
  // Tools
  UNKNOWN_TOOL: 'Call one of the offered tools.',
  INVALID_TOOL_ARGUMENTS: 'Send the complete arguments as one JSON object.',
  ARGUMENTS_TOO_LARGE:
    'Stream long text after WritePlanTool_begin instead of sending it as an argument.',
  CONTENT_IN_ARGUMENTS:
    'Leave the content out of the arguments; stream it as plain text after WritePlanTool_begin.',
  TOOL_FAILED: 'Read the message, change the arguments or go on without the tool.',
  TOOL_NOT_ALLOWED: 'Switch to ACT mode.',
  DUPLICATE_BLOCKED: 'Use the earlier result of the same call.',
  FILE_NOT_FOUND: 'Check the path.',
  // Write sessions
  SESSION_ALREADY_ACTIVE: 'Wait for the open write session to complete.',
  SESSION_BUSY:
    'The session is in use; wait for its process or stop it, or cancel the turn that it belongs to.',
  SESSION_NOT_FOUND: 'Look the id up in the list of write sessions.',
  SESSION_DAMAGED: 'Copy the text out.',
  SESSION_FOREIGN: 'Copy the text out.',
  SESSION_ABORTED: 'The write was cancelled.',
  SESSION_WRITTEN: 'Its file is written; begin another session to change it again.',
  OFFSET_MISMATCH: 'Continue at the named offset: that many bytes are stored.',
  UPLOAD_CLOSED: 'Send the corrections; or discard the session and begin another one.',
  TARGET_LOCKED:
    'Another write session holds this file; wait for it, cancel its turn, or recover or discard it.',
  TARGET_CHANGED: 'The file changed after the session began; nothing was overwritten.',
  TARGET_NOT_UTF8: 'Write the whole file anew with overwrite, in UTF-8.',
  EMPTY_CONTENT: 'Write the content, then DONE on its own line.',
  CONTENT_TOO_LARGE: 'Raise WRITE_SESSION_MAX_BYTES, or write the file in parts.',
  INVALID_CONTENT_PATH: "Only the session's own content file can be finalized.",
  INVALID_CONTENT: 'The text is not valid UTF-8.',
  NO_DONE: 'Recover the session, or write what is saved.',
  SEAM_UNVERIFIED: 'Recover the session, or write what is saved.',
  QUESTION_OPEN: 'Answer it with one of the named options.',
  VALIDATION_FAILED: 'Nothing was written; try again.',
  INTERNAL_ERROR: 'This is a defect in Orion; the text is saved.',
  // Write plans
  INVALID_PLAN: 'Correct the plan; see docs/guides/write-plans.md.',
  INVALID_OPERATION: 'Use create, overwrite, append, insert or replace.',
  MARKER_NOT_FOUND: 'Read the file and name a text that stands in it.',
  MARKER_NOT_UNIQUE: 'Name a longer text that stands in the file exactly once.',
  MARKER_TIMEOUT: 'Use a simpler expression, or a marker of type string.',
  NO_MATCH: 'Read the file and name a text that stands in it.',
  COUNT_MISMATCH: 'Read the file and correct expected_count.',
  EXECUTION_FAILED: 'Nothing of this operation was written; try again.',
  APPROVAL_REFUSED: 'Nothing was changed.',
  APPROVAL_DECIDED: 'It stands; nothing can be changed about it.',
  APPROVAL_NOT_FOUND: 'Look the id up in the list of approvals.',
  APPROVAL_STALE: 'Something else writes in this folder; find out what, then try again.',
  // Paths and the disk
  INVALID_TARGET: 'Name a file inside the workspace.',
  PROTECTED_PATH: 'Choose another path, or have this one allowed.',
  HARD_LINK: 'Choose another file, or have hard links allowed.',
  FILE_EXISTS: 'Use overwrite or append, or choose another name.',
  IS_DIRECTORY: 'Name a file, not a directory.',
  NOT_A_FILE: 'Name a regular file.',
  DIR_CREATE_FAILED: 'Check the permissions of the parent directory.',
  PERMISSION_DENIED: 'Check the permissions of the file and its directory.',
  DISK_FULL: 'Free some space, then try again.',
  READ_ONLY: 'The file system is read-only; write somewhere else or remount it.',
  RESOURCE_BUSY:
    'Try again in a moment; where too many files are open, raise their limit first (`ulimit -n 256`).',
  WRITE_FAILED: 'Check the disk, then try again.',
  OUT_FILE_EXISTS: 'Choose another file.',
  // Undo
  CHANGE_NOT_FOUND: 'Look the id up in the list of changes.',
  BACKUP_DAMAGED: 'The kept bytes are not what they were; nothing was changed.',
  BACKUP_FOREIGN: 'Look at what it would restore before you force it.',
  // Budgets and what a model may not answer
  CONTROLLER_INVALID_OUTPUT:
    'Try again, choose another model, or use the standard protocol with a model that calls tools.',
  MODEL_REFUSED: 'Ask for it in other words, or choose another model.',
  BUDGET_EXHAUSTED: 'Raise the limit, or ask for less at once.',
  // Stores
  FENCED: 'Another process has taken this turn over.',
  TURN_FINISHED: 'Read its events.',
  TURN_LOG_GAP: 'Read the turn again and append what follows.',
  TURN_INTERRUPTED: 'Ask again; what was written before stays written.',
  TURN_POISONED: 'Look in the log of the server for what ended it, then ask for less at once.',
  UNKNOWN_OUTCOME: 'Find out what it has done before you call it again.',
  STORE_UNAVAILABLE: 'Check the database and DATABASE_URL.',
  STORE_TOO_NEW: 'The store was made by a newer version; use that version.',
  STORE_FOREIGN: 'Move it away, or adopt it if you trust it.',
  INVALID_OUTPUT_ID: 'Leave out the id to use the latest output.',
  OUTPUT_NOT_FOUND: 'Leave out the id to use the latest output.',
  OUTPUT_NOT_ALLOWED: 'Name its conversation in conversation_id.',
  OUTPUT_EXPIRED: 'Run the tool again.',
  OUTPUT_CORRUPT: 'Run the tool again.',
  OUTPUT_QUERY_INVALID: 'Correct the question.',
  OUTPUT_QUERY_LIMIT: 'Ask for a smaller part.',
  CONVERSATION_NOT_FOUND: 'Look the id up in the list of conversations.',
  CONVERSATION_BUSY: 'Wait for the end of its turn, or begin another conversation.',
  TRACE_NOT_FOUND: 'Look the id up in the list of turns.',
  TURN_NOT_FOUND: 'Look the id up in the list of turns.',
  PROJECT_NOT_FOUND: 'Name a project that the server was started with.',
  IDEMPOTENCY_MISMATCH: 'Use a new key for another request; a key is for repeats of one request.',
  STORE_IN_USE: 'Use the server that runs, or stop it first.',
  // The server
  UNAUTHORIZED: 'Send the token of the server: `Authorization: Bearer <token>`.',
  HOST_NOT_ALLOWED: 'Use the address that the server printed, or have this name allowed.',
  ORIGIN_NOT_ALLOWED: 'Send the request from a page of this server, or from a program.',
  REQUEST_INVALID: 'Correct the request; /openapi.json describes it.',
  REQUEST_TIMEOUT: 'Send the whole request without long pauses.',
  ROUTE_NOT_FOUND: 'See /openapi.json for the routes.',
  METHOD_NOT_ALLOWED: 'Use a method that the header Allow names.',
  BODY_TOO_LARGE: 'Send less at once; the content of a file goes through a write session.',
  MEDIA_TYPE_UNSUPPORTED: 'Send the content type that the route takes, without a content encoding.',
  RANGE_NOT_SATISFIABLE: 'Ask for bytes that are stored.',
  HEADERS_TOO_LARGE: 'Send fewer or shorter headers.',
  SERVER_NOT_RUNNING: 'Start it: orion serve',
  PAGE_LINK_INVALID: 'Make a new link: orion web',
  PAGE_LINK_USED: 'Make a new link: orion web',
  PAGE_SESSION_ENDED: 'Log in again with a new link: orion web',
  RATE_LIMITED: 'Wait as long as the header Retry-After says.',
  SERVER_STOPPING: 'Try again when the server has started anew.',
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** An error as plain JSON, in events, tool results and traces. */
export type ErrorInfo = {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryable: boolean;
  readonly hint?: string;
};

export type OrionErrorOptions = {
  readonly code: ErrorCode;
  readonly message: string;
  /** The next step for the user. Defaults to the hint of the code. */
  readonly hint?: string;
  /** Whether the same call may work later without any change. */
  readonly retryable?: boolean;
  readonly details?: JsonObject;
  readonly cause?: unknown;
};

const MARKER = Symbol.for('orion.error');

/**
 * An error that a user, a model or a client can act on. Bugs stay plain `Error`s.
 *
 * Unlike `instanceof`, `OrionError.isInstance` also recognises errors of another copy of this package.
 */
export class OrionError extends Error {
  readonly code: ErrorCode;
  readonly hint: string;
  readonly retryable: boolean;
  readonly details: JsonObject;

  constructor(options: OrionErrorOptions) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'OrionError';
    this.code = options.code;
    this.hint = options.hint ?? ERROR_CODES[options.code];
    this.retryable = options.retryable ?? false;
    this.details = options.details ?? {};
    Object.defineProperty(this, MARKER, { value: true });
  }

  static isInstance(value: unknown): value is OrionError {
    return typeof value === 'object' && value !== null && MARKER in value;
  }

  toInfo(): ErrorInfo {
    return { code: this.code, message: this.message, retryable: this.retryable, hint: this.hint };
  }
}

/** Any call can fail with these, including one that loads a part of the program. */
const NO_MORE_FILES: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE']);

/** The JSON form of anything thrown. Anything but an `OrionError` is reported as a defect. */
export function toErrorInfo(error: unknown): ErrorInfo {
  if (OrionError.isInstance(error)) return error.toInfo();
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof Error && 'code' in error && NO_MORE_FILES.has(error.code)) {
    return { code: 'RESOURCE_BUSY', message, retryable: true, hint: ERROR_CODES.RESOURCE_BUSY };
  }
  return { code: 'INTERNAL_ERROR', message, retryable: false, hint: ERROR_CODES.INTERNAL_ERROR };
}
