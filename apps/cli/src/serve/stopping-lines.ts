export type Stopping = {
  /** How many turns run. */
  readonly working: number;
  /** And how many wait for a person. */
  readonly resting: number;
  /** What those that run get to end. */
  readonly drainMs: number;
  readonly signal: NodeJS.Signals;
};

const GIVEN_BACK = 'What is not finished is saved, and the next start continues it.';

/** What a server says when it is asked to stop. */
export function stoppingLine({ working, resting, drainMs, signal }: Stopping): string {
  if (drainMs === 0) return `Stopping. ${GIVEN_BACK}`;
  const seconds = Math.ceil(drainMs / 1000);
  const which = working === 1 ? '1 turn has' : `${working} turns have`;
  const those = resting === 1 ? '1 turn that waits' : `${resting} turns that wait`;
  const again = signal === 'SIGINT' ? 'Press Ctrl-C again' : 'Send the signal again';
  return [
    working === 0 ? 'Stopping.' : `Stopping: ${which} up to ${seconds} s to finish.`,
    ...(resting === 0 ? [] : [`The next start continues ${those} for a person.`]),
    ...(working === 0 ? [] : [`${again} to stop now.`]),
  ].join(' ');
}

/** And when it is asked again. */
export const CUT_SHORT: string = `Stopping now. ${GIVEN_BACK}`;
