import type { Clock, ToolProgress } from '@orion/contracts';

/** As often as a person can read it. What a tool reports sooner is left out. */
const INTERVAL_MS = 200;

/**
 * Yields what a tool reports while it runs, and returns what it comes to. However much it reports, one report waits at
 * most, the latest; none follows the end.
 */
export async function* followProgress<Result>(
  clock: Clock,
  run: (report: (progress: ToolProgress) => void) => Promise<Result>,
): AsyncGenerator<ToolProgress, Result, undefined> {
  let latest: ToolProgress | null = null;
  let shownAt = Number.NEGATIVE_INFINITY;
  let isOver = false;
  let news = Promise.withResolvers<void>();
  const running = run((progress) => {
    const now = clock.monotonic();
    if (now - shownAt < INTERVAL_MS) return;
    shownAt = now;
    latest = progress;
    news.resolve();
  });
  const over = (): void => {
    isOver = true;
    news.resolve();
  };
  running.then(over, over);
  try {
    for (;;) {
      await news.promise;
      news = Promise.withResolvers();
      if (isOver) return await running;
      const reported: ToolProgress | null = latest;
      // Before the reader is waited for: the next one may come meanwhile.
      latest = null;
      if (reported !== null) yield reported;
    }
  } finally {
    // A reader that has gone does not leave a tool behind.
    await running.catch(() => undefined);
  }
}
