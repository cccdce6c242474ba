import type { ProtocolEvent } from '@orion/contracts';

import type { Mailbox } from './mailbox.ts';

/** What the session driver waits for: something happened elsewhere, or the message it reads has gone on. */
export type Arrival =
  | { readonly kind: 'wake' }
  | {
      readonly kind: 'event';
      readonly stream: MessageStream;
      readonly result: IteratorResult<ProtocolEvent>;
    }
  | { readonly kind: 'failed'; readonly stream: MessageStream; readonly error: unknown };

/**
 * One message of the model while it arrives. Its events go to a mailbox under its own name, so that late ones of a
 * message that was left are not taken for those of the next.
 */
export class MessageStream {
  readonly #events: AsyncIterator<ProtocolEvent>;
  readonly #mailbox: Mailbox<Arrival>;
  readonly #leave: AbortController;

  constructor(
    events: AsyncIterable<ProtocolEvent>,
    mailbox: Mailbox<Arrival>,
    leave: AbortController,
  ) {
    this.#events = events[Symbol.asyncIterator]();
    this.#mailbox = mailbox;
    this.#leave = leave;
  }

  /** Asks for the next event; it comes through the mailbox. */
  request(): void {
    this.#events.next().then(
      (result) => this.#mailbox.push({ kind: 'event', stream: this, result }),
      (error: unknown) => this.#mailbox.push({ kind: 'failed', stream: this, error }),
    );
  }

  /** Closes the message, whether it has ended or not: a stalled one would never answer a `return` alone. */
  async close(): Promise<void> {
    this.#leave.abort();
    await this.#events.return?.();
  }
}
