import type { RunEventBody } from '@orion/contracts';

/** Events of something that a turn waits for: they come while its next event is under way. */
export class Asides {
  #listener: ((event: RunEventBody) => void) | null = null;
  readonly #early: RunEventBody[] = [];

  say(event: RunEventBody): void {
    if (this.#listener === null) this.#early.push(event);
    else this.#listener(event);
  }

  /** One listener, which is also given what was said before. */
  listen(listener: (event: RunEventBody) => void): void {
    this.#listener = listener;
    for (const event of this.#early.splice(0)) listener(event);
  }
}
