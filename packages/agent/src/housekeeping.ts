import { sleep } from '@orion/contracts';
import type { Clock, TraceRecorder, Workspace } from '@orion/contracts';

/** How often a long-lived process looks for old orphans, in milliseconds. */
const HOUSEKEEPING_MS = 60 * 60 * 1000;

/** Tidies the workspace up now and then, until the signal is aborted. Never rejects. */
export async function keepHouse(
  { sessions }: Pick<Workspace, 'sessions'>,
  clock: Clock,
  traces: TraceRecorder,
  stop: AbortSignal,
): Promise<void> {
  for (;;) {
    await sleep(clock, HOUSEKEEPING_MS, stop);
    if (stop.aborted) return;
    await sessions.housekeep().catch((error: unknown) => {
      traces.record('housekeeping_failed', { error });
    });
  }
}
