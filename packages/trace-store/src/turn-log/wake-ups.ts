import { sleep } from '@orion/contracts';
import type { Clock } from '@orion/contracts';

export type WakeUps = {
  wake(turnId: string): void;
  watch(turnId: string): { wait(signal: AbortSignal): Promise<void>; stop(): void };
};

/**
 * Wakes the readers of a turn when there may be something new.
 *
 * 1. A wake-up between two waits is not lost: the next wait ends at once.
 * 2. A wait ends by itself after the sweep time, because a notification from another process may not arrive.
 */
export function createWakeUps(options: {
  readonly clock: Clock;
  readonly sweepMs: number;
  /** Starts listening to other processes; called for the first watcher, stopped after the last. */
  readonly listen: (wake: (turnId: string) => void) => () => void;
}): WakeUps {
  const { clock, sweepMs, listen } = options;
  const watchers = new Map<string, Set<() => void>>();
  let stopListening: (() => void) | null = null;

  const wake = (turns: string): void => {
    const named = turns === '*' ? watchers.keys() : turns.split(',');
    for (const turnId of named) {
      for (const notify of watchers.get(turnId) ?? []) notify();
    }
  };

  return {
    wake,
    watch(turnId) {
      let news = new AbortController();
      const notify = (): void => {
        news.abort();
      };
      const ofTurn = watchers.get(turnId) ?? new Set();
      watchers.set(turnId, ofTurn.add(notify));
      stopListening ??= listen(wake);
      return {
        async wait(signal) {
          await sleep(clock, sweepMs, signal, news.signal);
          news = new AbortController();
        },
        stop() {
          ofTurn.delete(notify);
          if (ofTurn.size === 0 && watchers.get(turnId) === ofTurn) watchers.delete(turnId);
          if (watchers.size > 0) return;
          stopListening?.();
          stopListening = null;
        },
      };
    },
  };
}
