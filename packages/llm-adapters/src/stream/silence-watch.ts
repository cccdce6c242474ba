import type { Clock } from '@orion/contracts';

/** Reports a silence that is too long. Only time in which something is awaited counts. */
export type SilenceWatch = {
  /** Starts waiting. A silence of more than `limit` milliseconds is reported. */
  waiting(limit: number): void;
  arrived(): void;
  stop(): void;
};

/**
 * One timer for many short waits. It checks again when it fires: a timer for each piece of a fast stream would cost
 * more than reading the piece.
 */
export function createSilenceWatch(clock: Clock, onSilence: () => void): SilenceWatch {
  let since: number | undefined;
  let limit = 0;
  let rings = Number.POSITIVE_INFINITY;
  let cancel: (() => void) | undefined;

  function set(milliseconds: number): void {
    cancel?.();
    rings = clock.monotonic() + milliseconds;
    cancel = clock.schedule(milliseconds, ring);
  }

  function ring(): void {
    cancel = undefined;
    rings = Number.POSITIVE_INFINITY;
    if (since === undefined) return;
    const left = since + limit - clock.monotonic();
    if (left > 0) set(left);
    else onSilence();
  }

  return {
    waiting: (milliseconds) => {
      since = clock.monotonic();
      limit = milliseconds;
      if (cancel === undefined || rings > since + milliseconds) set(milliseconds);
    },
    arrived: () => {
      since = undefined;
    },
    stop: () => {
      since = undefined;
      cancel?.();
      cancel = undefined;
    },
  };
}
