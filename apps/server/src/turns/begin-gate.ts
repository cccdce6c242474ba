import type { Clock } from '@orion/contracts';

/** How many turns begin at the same time. */
const PLACES = 3;
/** A turn that has not begun after this time waits for something else than this process, such as a slow disk. */
const GIVES_WAY_MS = 200;

export type BeginGateOptions = {
  readonly clock: Clock;
  /** Called when the last one that waited has gone in. Must not throw. */
  readonly onClear: () => void;
};

/**
 * Lets turns begin a few at a time, the first first. To begin is the most that a turn asks of its process at once: many
 * that begin together would hold up what the models of all others say, and none of them would have begun any sooner.
 *
 * A place is free again once its turn has begun or ended, and at the latest after GIVES_WAY_MS: turns that wait for
 * something do not keep others from beginning.
 */
export class BeginGate {
  readonly #options: BeginGateOptions;
  readonly #waiting: (() => void)[] = [];
  #free = PLACES;

  constructor(options: BeginGateOptions) {
    this.#options = options;
  }

  /** Whether anybody waits. */
  get isCrowded(): boolean {
    return this.#waiting.length > 0;
  }

  /** Resolves when a turn may begin. What it resolves to is called when it has; to call that again does nothing. */
  async enter(): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    let isInside = true;
    const leave = (): void => {
      if (!isInside) return;
      isInside = false;
      cancel();
      this.#leave();
    };
    const cancel = this.#options.clock.schedule(GIVES_WAY_MS, leave);
    return leave;
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    next();
    if (!this.isCrowded) this.#options.onClear();
  }
}
