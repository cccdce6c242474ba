import { OrionError } from '@orion/contracts';

/** Throws ABORTED if the signal is aborted. Must be called only while nothing has changed. */
export function requireRunning(signal: AbortSignal | null): void {
  if (signal?.aborted !== true) return;
  throw new OrionError({ code: 'ABORTED', message: 'Cancelled before anything was changed.' });
}
