import type { Orion } from '@orion/agent';
import type { Clock } from '@orion/contracts';

/** The stored write sessions of all workspaces. */
export type SessionCounts = {
  readonly byStatus: ReadonlyMap<string, number>;
  /** Those that a start would offer to recover. */
  readonly unfinished: number;
};

/** One count answers all who ask within this time of its end, in milliseconds. */
const FRESH_MS = 500;
/** And for so many times as long as it took: counting reads folders, and takes no more than this part of the time. */
const PAUSE = 20;

/** Counts when it is asked, once for all who ask at a time. */
export function countSessions(
  workspaces: readonly Pick<Orion, 'listSessions'>[],
  clock: Clock,
): () => Promise<SessionCounts> {
  let latest: { until: number; readonly counts: Promise<SessionCounts> } | null = null;
  return () => {
    const began = clock.monotonic();
    if (latest === null || began >= latest.until) {
      const look = { until: Number.POSITIVE_INFINITY, counts: count(workspaces) };
      const end = (times: number): void => {
        const now = clock.monotonic();
        look.until = now + Math.max(FRESH_MS, times * (now - began));
      };
      // A store that is away takes long to fail, and may be back at once.
      look.counts.then(
        () => end(PAUSE),
        () => end(0),
      );
      latest = look;
    }
    return latest.counts;
  };
}

async function count(workspaces: readonly Pick<Orion, 'listSessions'>[]): Promise<SessionCounts> {
  const byStatus = new Map<string, number>();
  let unfinished = 0;
  const listed = await Promise.all(workspaces.map((each) => each.listSessions()));
  for (const { status, recoverable } of listed.flat()) {
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
    if (recoverable) unfinished += 1;
  }
  return { byStatus, unfinished };
}
