import type { Stats } from 'node:fs';
import { OrionError } from '@orion/contracts';
import type { ErrorCode } from '@orion/contracts';

type Verdict = {
  readonly code: ErrorCode;
  readonly reason: string;
  readonly retryable: boolean;
};

/** Linux's EDQUOT; Node has no name for it and reports `UNKNOWN`. */
const EDQUOT_ERRNO = -122;

const VERDICTS: Readonly<Record<string, Verdict>> = {
  ENOSPC: { code: 'DISK_FULL', reason: 'no space left on the disk', retryable: false },
  EDQUOT: { code: 'DISK_FULL', reason: 'the disk quota is used up', retryable: false },
  EROFS: { code: 'READ_ONLY', reason: 'the file system is read-only', retryable: false },
  EACCES: { code: 'PERMISSION_DENIED', reason: 'permission denied', retryable: false },
  EPERM: { code: 'PERMISSION_DENIED', reason: 'the operation is not permitted', retryable: false },
  EMFILE: { code: 'RESOURCE_BUSY', reason: 'too many open files', retryable: true },
  ENFILE: { code: 'RESOURCE_BUSY', reason: 'too many open files', retryable: true },
  EBUSY: { code: 'RESOURCE_BUSY', reason: 'the file is busy', retryable: true },
  ETXTBSY: { code: 'RESOURCE_BUSY', reason: 'the file is being executed', retryable: true },
  EAGAIN: { code: 'RESOURCE_BUSY', reason: 'the system is busy', retryable: true },
  EISDIR: { code: 'IS_DIRECTORY', reason: 'it is a directory', retryable: false },
  ENAMETOOLONG: { code: 'INVALID_TARGET', reason: 'the name is too long', retryable: false },
  ELOOP: { code: 'INVALID_TARGET', reason: 'a symbolic link is in the way', retryable: false },
};

/**
 * Something else has the name of one of Orion's directories. It looks like a failed system call, because callers that
 * can continue without the disk treat it as one.
 */
export class InPlaceOfDirectory extends Error {
  readonly errno = -20;
  readonly code = 'ENOTDIR';

  constructor(path: string, found: Stats) {
    const is = found.isSymbolicLink() ? 'a link' : 'no folder';
    super(`${path} is ${is}, and not used for what Orion keeps: move it away`);
    this.name = 'InPlaceOfDirectory';
  }
}

/** The system's name for a failed call, such as `ENOENT`; null for anything other than a system error. */
export function errnoOf(error: unknown): string | null {
  if (!(error instanceof Error) || !('errno' in error)) return null;
  if (error.errno === EDQUOT_ERRNO) return 'EDQUOT';
  return 'code' in error && typeof error.code === 'string' ? error.code : null;
}

const ERRNOS = { EIO: -5, ENOENT: -2, ELOOP: -40 } as const;

/** An error that looks like a failed system call. */
export function systemError(code: keyof typeof ERRNOS, message: string): Error {
  return Object.assign(new Error(message), { errno: ERRNOS[code], code });
}

export function isErrno(error: unknown, ...names: readonly string[]): boolean {
  const name = errnoOf(error);
  return name !== null && names.includes(name);
}

/**
 * Converts a failed call to the error that users see. An `OrionError` is returned unchanged. Anything other than a
 * system error is a defect and is rethrown.
 */
export function toDiskError(error: unknown, action: string): OrionError {
  if (OrionError.isInstance(error)) return error;
  const name = errnoOf(error);
  if (name === null) throw error;
  if (error instanceof InPlaceOfDirectory) {
    return new OrionError({
      code: 'STORE_FOREIGN',
      message: error.message,
      hint: 'Or name another folder with ORION_STATE_DIR.',
      cause: error,
    });
  }
  const verdict = VERDICTS[name] ?? {
    code: 'WRITE_FAILED',
    reason: 'the call failed',
    retryable: false,
  };
  return new OrionError({
    code: verdict.code,
    message: `Could not ${action}: ${verdict.reason} (${name}).`,
    retryable: verdict.retryable,
    details: { errno: name },
    cause: error,
  });
}

/** Runs one step on the disk and converts system errors to `OrionError`. */
export async function onDisk<T>(action: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw toDiskError(error, action);
  }
}
