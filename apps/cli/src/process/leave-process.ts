/** The signals that a command listens to while it has something to save. */
export const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Ends the process. Nobody listens to signals any more then: a handler keeps a signal from ending the process, also
 * where the engine shuts down and runs no handler.
 */
export function leaveProcess(exitCode: number): never {
  for (const signal of STOP_SIGNALS) process.removeAllListeners(signal);
  process.exit(exitCode);
}
