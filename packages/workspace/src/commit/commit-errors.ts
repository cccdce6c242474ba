import { OrionError } from '@orion/contracts';
import { toDiskError } from '../disk/disk-error.ts';
import { shown } from '../path-policy/parse-target.ts';

export function fileExists(path: string, cause?: unknown): OrionError {
  return new OrionError({
    code: 'FILE_EXISTS',
    message: `${shown(path)} exists already.`,
    ...(cause === undefined ? {} : { cause }),
  });
}

export function targetChanged(path: string): OrionError {
  return new OrionError({
    code: 'TARGET_CHANGED',
    message: `${shown(path)} is not what it was when the work began; nothing was overwritten.`,
  });
}

export function approvalStale(path: string): OrionError {
  return new OrionError({
    code: 'APPROVAL_STALE',
    message: `The prepared content of ${shown(path)} was changed after it was approved; it was not written.`,
  });
}

/** The change was made, but may not survive a power cut, so it must not be reported as written. */
export function notConfirmed(path: string, error: unknown): OrionError {
  const cause = toDiskError(error, `make the change of ${shown(path)} durable`);
  return new OrionError({
    code: cause.code,
    message: cause.message,
    retryable: false,
    hint: 'The file has its new content, but the disk did not confirm it; check the disk.',
    details: { ...cause.details, changed: true },
    cause: error,
  });
}
