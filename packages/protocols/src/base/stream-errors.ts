import { OrionError } from '@orion/contracts';
import type { ErrorInfo } from '@orion/contracts';

/** For a stream that ends without a terminal event. That never counts as a success. */
export const NO_TERMINAL_EVENT: ErrorInfo = new OrionError({
  code: 'STREAM_TRUNCATED',
  message: 'The model stream ended without a finish or an error',
  retryable: true,
}).toInfo();

export function isAbort(error: ErrorInfo, signal: AbortSignal): boolean {
  return signal.aborted || error.code === 'ABORTED';
}
