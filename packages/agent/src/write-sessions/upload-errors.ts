import { OrionError } from '@orion/contracts';
import type { SessionHandle, WrittenUpload } from '@orion/contracts';

/** What a call on a write session is refused with. */

export function tooLongToBegin(maxBytes: number): OrionError {
  return new OrionError({
    code: 'ARGUMENTS_TOO_LARGE',
    message: `A request to begin has at most ${maxBytes} bytes.`,
    hint: 'Say in a few words what the change is for; upload the text afterwards.',
  });
}

export function offsetMismatch(handle: SessionHandle, given: number): OrionError {
  const { offset, saved_bytes } = progressOf(handle);
  const which = offset === saved_bytes ? 'are stored' : `have arrived (${saved_bytes} are stored)`;
  return new OrionError({
    code: 'OFFSET_MISMATCH',
    message: `${offset} bytes ${which}, not ${given}.`,
    details: { offset, saved_bytes },
  });
}

/** The same error, with how far the upload has come: where the next one continues, and what survives a crash. */
export function withProgress(error: unknown, handle: SessionHandle): unknown {
  if (!OrionError.isInstance(error)) return error;
  const { code, message, hint, retryable } = error;
  const details = { ...error.details, ...progressOf(handle) };
  return new OrionError({ code, message, hint, retryable, details, cause: error });
}

function progressOf(handle: SessionHandle): {
  readonly offset: number;
  readonly saved_bytes: number;
} {
  return { offset: handle.bytes(), saved_bytes: handle.durableBytes() };
}

export function uploadClosed({ metadata }: SessionHandle): OrionError {
  return new OrionError({
    code: 'UPLOAD_CLOSED',
    message: `The text for ${metadata.target_file} is being corrected; it takes no more bytes.`,
  });
}

export function alreadyWritten({ target_file, sha256 }: WrittenUpload): OrionError {
  return new OrionError({
    code: 'SESSION_WRITTEN',
    message: `${target_file} is written.`,
    details: { target_file, sha256 },
  });
}

export function discarded(sessionId: string): OrionError {
  return new OrionError({
    code: 'SESSION_ABORTED',
    message: `The write session ${sessionId} was discarded.`,
    hint: 'Recover it to go on with it.',
  });
}

export function lost(sessionId: string): OrionError {
  return new OrionError({
    code: 'SESSION_BUSY',
    message: `Another process has taken the write session ${sessionId} over.`,
    details: { session_id: sessionId },
  });
}

export function usage(message: string): OrionError {
  return new OrionError({ code: 'USAGE', message });
}
