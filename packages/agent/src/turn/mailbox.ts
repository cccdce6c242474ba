/**
 * Things that happen at any time, taken one after the other by one consumer.
 *
 * Unlike `Promise.race` over long-lived promises it leaves nothing behind on a promise that does not settle.
 */
export class Mailbox<Item> {
  readonly #items: Item[] = [];
  #waiting: ((item: Item) => void) | null = null;

  push(item: Item): void {
    const waiting = this.#waiting;
    if (waiting === null) {
      this.#items.push(item);
      return;
    }
    this.#waiting = null;
    waiting(item);
  }

  /** The next item, waiting for it if there is none. One caller at a time. */
  take(): Promise<Item> {
    const item = this.#items.shift();
    if (item !== undefined) return Promise.resolve(item);
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }
}
