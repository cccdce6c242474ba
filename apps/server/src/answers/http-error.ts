import { OrionError, toErrorInfo } from '@orion/contracts';
import type { ErrorCode, HttpErrorBody } from '@orion/contracts';

import { routeHint } from './route-hints.ts';

/** An answer that is an error. */
export type HttpError = {
  readonly status: number;
  readonly body: HttpErrorBody;
  readonly headers: Readonly<Record<string, string>>;
};

/** The status of each code that is not 400 (the request cannot be done as it is). */
const STATUS: Partial<Record<ErrorCode, number>> = {
  UNAUTHORIZED: 401,
  PAGE_LINK_INVALID: 403,
  PAGE_LINK_USED: 403,
  PAGE_SESSION_ENDED: 403,
  HOST_NOT_ALLOWED: 403,
  ORIGIN_NOT_ALLOWED: 403,
  PROTECTED_PATH: 403,
  APPROVAL_REFUSED: 403,
  PERMISSION_DENIED: 403,
  OUTPUT_NOT_ALLOWED: 403,
  SESSION_FOREIGN: 403,
  BACKUP_FOREIGN: 403,
  ROUTE_NOT_FOUND: 404,
  FILE_NOT_FOUND: 404,
  SESSION_NOT_FOUND: 404,
  CHANGE_NOT_FOUND: 404,
  OUTPUT_NOT_FOUND: 404,
  CONVERSATION_NOT_FOUND: 404,
  TRACE_NOT_FOUND: 404,
  TURN_NOT_FOUND: 404,
  APPROVAL_NOT_FOUND: 404,
  PROJECT_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  SESSION_ALREADY_ACTIVE: 409,
  SESSION_BUSY: 409,
  SESSION_DAMAGED: 409,
  SESSION_WRITTEN: 409,
  OFFSET_MISMATCH: 409,
  UPLOAD_CLOSED: 409,
  INVALID_CONTENT: 409,
  SESSION_ABORTED: 409,
  TARGET_LOCKED: 409,
  TARGET_CHANGED: 409,
  EMPTY_CONTENT: 409,
  QUESTION_OPEN: 409,
  NO_DONE: 409,
  SEAM_UNVERIFIED: 409,
  FILE_EXISTS: 409,
  HARD_LINK: 409,
  APPROVAL_STALE: 409,
  APPROVAL_DECIDED: 409,
  BACKUP_DAMAGED: 409,
  CONVERSATION_BUSY: 409,
  FENCED: 409,
  TURN_FINISHED: 409,
  OUTPUT_EXPIRED: 410,
  BODY_TOO_LARGE: 413,
  CONTENT_TOO_LARGE: 413,
  MEDIA_TYPE_UNSUPPORTED: 415,
  IDEMPOTENCY_MISMATCH: 422,
  RANGE_NOT_SATISFIABLE: 416,
  RATE_LIMITED: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL_ERROR: 500,
  WRITE_FAILED: 500,
  OUTPUT_CORRUPT: 500,
  EXECUTION_FAILED: 500,
  RESOURCE_BUSY: 503,
  SERVER_STOPPING: 503,
  STORE_UNAVAILABLE: 503,
  STORE_TOO_NEW: 503,
  STORE_FOREIGN: 503,
  READ_ONLY: 503,
  DISK_FULL: 507,
};

export function statusOf(code: ErrorCode): number {
  return STATUS[code] ?? 400;
}

export function httpError(
  code: ErrorCode,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): HttpError {
  const error = { code, message, hint: routeHint(code) };
  return { status: statusOf(code), body: { error }, headers };
}

/** What a client can do about a store that may be back at once; its code's own hint is for who runs the server. */
const ASK_AGAIN =
  'Send the request again. If it creates something, it may already have done so: repeat it with the same Idempotency-Key.';

/** What a client is shown of an error. A defect is not described: its message may contain anything. */
export function errorAnswer(error: unknown): HttpError {
  const { code, message, hint, retryable } = toErrorInfo(error);
  if (code === 'INTERNAL_ERROR') {
    return httpError(code, 'The server failed. Its log names the request by its x-request-id.');
  }
  const details = OrionError.isInstance(error) ? error.details : {};
  const isStoreAway = code === 'STORE_UNAVAILABLE' && retryable;
  return {
    status: statusOf(code),
    body: {
      error: {
        code,
        message,
        hint: isStoreAway ? ASK_AGAIN : routeHint(code, hint),
        ...(Object.keys(details).length === 0 ? {} : { details }),
      },
    },
    headers: isStoreAway || code === 'RATE_LIMITED' ? retryAfter(details['retryAfterSeconds']) : {},
  };
}

function retryAfter(seconds: unknown): HttpError['headers'] {
  return { 'retry-after': String(typeof seconds === 'number' ? Math.ceil(seconds) : 1) };
}
