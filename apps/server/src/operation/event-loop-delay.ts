import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How late this process deals with what happens. */
export type EventLoopDelay = {
  /** The 99th percentile of the last one to two windows, in milliseconds. 0 in the first one: a start is not a load. */
  readonly p99Ms: () => number;
  readonly close: () => void;
};

/** How often the event loop is looked at. What is measured is the time between two looks. */
export const RESOLUTION_MS = 20;
const WINDOW_MS = 5_000;
const NANOSECONDS = 1e6;

/** Two histograms, of which the one that covers more time decides: what is older than two windows is forgotten. */
export function watchEventLoop(windowMs: number = WINDOW_MS): EventLoopDelay {
  let longer = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  let shorter = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  longer.enable();
  shorter.enable();
  let isFirst = true;
  const timer = setInterval(() => {
    isFirst = false;
    longer.reset();
    [longer, shorter] = [shorter, longer];
  }, windowMs);
  timer.unref();
  return {
    p99Ms: () => (isFirst ? 0 : Math.max(0, longer.percentile(99) / NANOSECONDS - RESOLUTION_MS)),
    close: () => {
      clearInterval(timer);
      longer.disable();
      shorter.disable();
    },
  };
}
