import type { Clock, TraceRecorder, Workspace } from '@orion/contracts';

/** Long-lived processes look for old orphans so often, in milliseconds. */
const HOUSEKEEPING_MS = 60 * 60 * 1000;

/** Tidies the workspace up now and then until the returned function is called. */
export function keepHouse(
  { sessions }: Pick<Workspace, 'sessions'>,
  clock: Clock,
  traces: TraceRecorder,
): () => void {
  let stopped = false;
  let cancel = schedule();

  function schedule(): () => void {
    return clock.schedule(HOUSEKEEPING_MS, () => {
      void sessions
        .housekeep()
        .catch((error: unknown) => traces.record('housekeeping_failed', { error }))
        .finally(() => {
          if (!stopped) cancel = schedule();
        });
    });
  }

  return () => {
    stopped = true;
    cancel();
  };
}
