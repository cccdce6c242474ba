import { OrionError } from '@orion/contracts';

/**
 * What a person has to know of a store that fails: one sentence, once. A turn goes on without its store, so this is
 * all that comes of it.
 */
export class StoreTrouble {
  #told = false;
  #failing = false;
  #notice: string | null = null;

  /** Whether the store failed the last time it was asked: then nobody waits for it longer than needed. */
  failing(): boolean {
    return this.#failing;
  }

  recovered(): void {
    this.#failing = false;
  }

  report(error: unknown): void {
    this.#failing = true;
    if (this.#told) return;
    this.#told = true;
    const code = OrionError.isInstance(error) ? error.code : 'STORE_UNAVAILABLE';
    const message = error instanceof Error ? error.message : String(error);
    this.#notice =
      `The store does not work (${code}: ${message.replace(/\.$/u, '')}). The turn goes on; what is said ` +
      'and done in it may not be there in later ones.';
  }

  /** The sentence, if there is one and it was not taken before. */
  takeNotice(): string | null {
    const notice = this.#notice;
    this.#notice = null;
    return notice;
  }
}
