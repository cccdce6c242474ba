import type { Clock } from '@orion/contracts';

/**
 * Tells the readers of a turn that there may be something new.
 *
 * 1. What is told between two waits is not lost: the next wait ends at once.
 * 2. A wait ends by itself after the sweep time, since another process's news may not arrive.
 */
export class WakeUps {
  readonly #clock: Pick<Clock, 'schedule'>;
  readonly #sweepMs: number;
  /** Begins to hear of other processes' events; called with the first watcher, ended with the last. */
  readonly #listen: (wake: (turnId: string) => void) => () => void;
  readonly #watchers = new Map<string, Set<Watcher>>();
  #stopListening: (() => void) | null = null;

  constructor(options: {
    readonly clock: Pick<Clock, 'schedule'>;
    readonly sweepMs: number;
    readonly listen: (wake: (turnId: string) => void) => () => void;
  }) {
    this.#clock = options.clock;
    this.#sweepMs = options.sweepMs;
    this.#listen = options.listen;
  }

  wake(turnId: string): void {
    for (const watcher of this.#watchers.get(turnId) ?? []) watcher.wake();
  }

  watch(turnId: string): { wait(signal: AbortSignal): Promise<void>; stop(): void } {
    const watcher = new Watcher(this.#clock, this.#sweepMs);
    const known = this.#watchers.get(turnId) ?? new Set();
    known.add(watcher);
    this.#watchers.set(turnId, known);
    this.#stopListening ??= this.#listen((id) => {
      this.wake(id);
    });
    return {
      wait: (signal) => watcher.wait(signal),
      stop: () => {
        known.delete(watcher);
        if (known.size > 0) return;
        if (this.#watchers.get(turnId) === known) this.#watchers.delete(turnId);
        if (this.#watchers.size > 0) return;
        this.#stopListening?.();
        this.#stopListening = null;
      },
    };
  }
}

class Watcher {
  readonly #clock: Pick<Clock, 'schedule'>;
  readonly #sweepMs: number;
  #news = false;
  #waiting: (() => void) | null = null;

  constructor(clock: Pick<Clock, 'schedule'>, sweepMs: number) {
    this.#clock = clock;
    this.#sweepMs = sweepMs;
  }

  wake(): void {
    this.#news = true;
    this.#waiting?.();
  }

  async wait(signal: AbortSignal): Promise<void> {
    if (!this.#news && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting = resolve;
      const cancel = this.#clock.schedule(this.#sweepMs, resolve);
      const end = (): void => {
        resolve();
      };
      signal.addEventListener('abort', end, { once: true });
      await promise;
      signal.removeEventListener('abort', end);
      cancel();
      this.#waiting = null;
    }
    this.#news = false;
  }
}
