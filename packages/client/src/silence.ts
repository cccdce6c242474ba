import type { Clock } from '@orion/contracts';

export type SilenceOptions = {
  readonly clock: Clock;
  /** How long nothing may arrive; infinite where it does not matter. */
  readonly milliseconds: number;
  readonly onSilent: () => void;
  readonly onBytes?: (() => void) | undefined;
};

/** Calls when nothing has arrived for a while. */
export class Silence {
  readonly #options: SilenceOptions;
  #cancel = (): void => undefined;

  constructor(options: SilenceOptions) {
    this.#options = options;
  }

  heard(): void {
    this.restart();
    this.#options.onBytes?.();
  }

  restart(): void {
    const { clock, milliseconds, onSilent } = this.#options;
    this.#cancel();
    if (milliseconds !== Number.POSITIVE_INFINITY) {
      this.#cancel = clock.schedule(milliseconds, onSilent);
    }
  }

  end(): void {
    this.#cancel();
  }
}
