export type Stopping = {
  /** How many run. */
  readonly turns: number;
  /** What they get to end. */
  readonly drainMs: number;
  readonly signal: NodeJS.Signals;
};

const GIVEN_BACK = 'What is not finished is saved, and the next start continues it.';

/** What a server says when it is asked to stop. */
export function stoppingLine({ turns, drainMs, signal }: Stopping): string {
  if (drainMs === 0) return `Stopping. ${GIVEN_BACK}`;
  if (turns === 0) return 'Stopping.';
  const seconds = Math.ceil(drainMs / 1000);
  const which = turns === 1 ? '1 turn has' : `${turns} turns have`;
  const again = signal === 'SIGINT' ? 'Press Ctrl-C again' : 'Send the signal again';
  return `Stopping: ${which} up to ${seconds} s to finish. ${again} to stop now.`;
}

/** And when it is asked again. */
export const CUT_SHORT: string = `Stopping now. ${GIVEN_BACK}`;
