import { OrionError } from '@orion/contracts';

/**
 * What a person has to know of a store that fails: one sentence, once. A turn goes on without its store, so this is
 * all that comes of it.
 */
export class StoreTrouble {
  #told = false;
  #notice: string | null = null;

  report(error: unknown): void {
    if (this.#told) return;
    this.#told = true;
    const code = OrionError.isInstance(error) ? error.code : 'STORE_UNAVAILABLE';
    const message = error instanceof Error ? error.message : String(error);
    this.#notice =
      `The store does not work (${code}: ${message.replace(/\.$/u, '')}). The turn goes on: ` +
      'its conversation and traces are kept in memory only.';
  }

  /** The sentence, if there is one and it was not taken before. */
  takeNotice(): string | null {
    const notice = this.#notice;
    this.#notice = null;
    return notice;
  }
}
