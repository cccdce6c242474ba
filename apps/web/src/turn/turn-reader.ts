import { OrionClientError } from '@orion/client';
import type { TurnStreamEvent } from '@orion/contracts';

import { isSilent, pauseBeforeRetry } from './stream-policy.ts';
import { EMPTY_TURN, foldEvents } from './fold-events.ts';
import type { Fold } from './fold-events.ts';
import type { TurnView } from './turn-view.ts';

/** Events that arrived together, and where the reader is behind them. */
export type EventBatch = { readonly events: readonly TurnStreamEvent[]; readonly at: string };

/**
 * Reads the log over one connection, from behind an event on, and calls `heard` whenever anything arrives. Ends when
 * there is no more for now; rejects when the connection is lost.
 */
export type ReadEvents = (
  after: string,
  signal: AbortSignal,
  heard: () => void,
) => AsyncIterable<EventBatch>;

export type Connection =
  | { readonly kind: 'connecting' | 'live' | 'over' | 'paused' }
  /** Nothing was heard since `since`; the next try is at `nextTry`. Both in milliseconds. */
  | { readonly kind: 'lost'; readonly since: number; readonly nextTry: number }
  /** Asking again would not help. */
  | { readonly kind: 'refused'; readonly error: OrionClientError };

export type TurnSnapshot = { readonly view: TurnView; readonly connection: Connection };

export type ReaderHost = {
  readonly read: ReadEvents;
  readonly now: () => number;
  /** Resolves after so many milliseconds, at once when the signal is aborted. */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** From 0 up to 1. */
  readonly random: () => number;
};

/**
 * Follows the log of one turn for as long as somebody looks.
 *
 * R1  What the page shows is the fold of the log: a lost connection only makes it older.
 * R2  A gap is read again from the last event that was taken.
 * R3  It tries for ever, at most 10 s apart, except where the answer says that it is useless.
 * R4  There is contact from the first bytes of a connection on: a turn may have nothing to say for long.
 */
export class TurnReader {
  readonly #host: ReaderHost;
  readonly #lookers = new Set<() => void>();
  readonly #followers = new Set<(fold: Fold) => void>();
  #snapshot: TurnSnapshot = { view: EMPTY_TURN, connection: { kind: 'connecting' } };
  #running: AbortController | null = null;
  #hurry: AbortController | null = null;
  #lastHeard: number;
  #isShown = true;
  /** Behind which event it reads on. */
  #at = '0';
  #failures = 0;

  constructor(host: ReaderHost) {
    this.#host = host;
    this.#lastHeard = host.now();
  }

  readonly snapshot = (): TurnSnapshot => this.#snapshot;

  /** Reads while somebody is subscribed. */
  readonly subscribe = (changed: () => void): (() => void) => {
    this.#lookers.add(changed);
    this.#start();
    return () => {
      this.#lookers.delete(changed);
      if (this.#lookers.size === 0) this.#stop('connecting');
    };
  };

  readonly isWatched = (): boolean => this.#lookers.size > 0;

  /** Learns of each event that is taken from now on. */
  follow(taken: (fold: Fold) => void): () => void {
    this.#followers.add(taken);
    return () => this.#followers.delete(taken);
  }

  /** Ends a wait between two tries. */
  readonly tryNow = (): void => this.#hurry?.abort();

  /**
   * A page that is hidden holds no connection, and catches up when it is shown. Timers may have slept with the machine,
   * so a connection that has been silent is left at once then.
   */
  setShown(isShown: boolean): void {
    this.#isShown = isShown;
    if (!isShown) this.#stop('paused');
    else if (this.#lookers.size > 0) {
      const isLost = this.#running !== null && isSilent(this.#lastHeard, this.#host.now());
      if (isLost) this.#stop('connecting');
      this.#start();
    }
  }

  #start(): void {
    if (this.#running !== null || !this.#isShown || this.#isOver()) return;
    this.#running = new AbortController();
    this.#lastHeard = this.#host.now();
    void this.#run(this.#running.signal);
  }

  #isOver(): boolean {
    return this.#snapshot.view.end !== null;
  }

  #stop(kind: 'connecting' | 'paused'): void {
    if (this.#running === null) return;
    this.#running.abort();
    this.#running = null;
    this.#set({ connection: { kind } });
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const hadEvents = await this.#readOnce(signal);
        if (signal.aborted) return;
        if (this.#isOver()) {
          this.#running = null;
          this.#set({ connection: { kind: 'over' } });
          return;
        }
        if (!hadEvents) await this.#waitForRetry(signal, 0);
      } catch (error) {
        if (signal.aborted) return;
        const known = error instanceof OrionClientError ? error : null;
        if (known !== null && isUseless(known)) {
          this.#set({ connection: { kind: 'refused', error: known } });
          return;
        }
        // What is not the server does not know when it is back.
        const isForeign = known?.code === 'UNEXPECTED_ANSWER';
        await this.#waitForRetry(signal, isForeign ? 0 : (known?.retryAfterMs ?? 0));
      }
    }
  }

  /**
   * Over one connection. False if it brought nothing, not even the word that there is nothing, or if the next event is
   * missing in it.
   */
  async #readOnce(signal: AbortSignal): Promise<boolean> {
    let hasAnswer = false;
    let wasReset = false;
    const failures = this.#failures;
    const heard = (): void => {
      if (signal.aborted) return;
      this.#lastHeard = this.#host.now();
      this.#failures = 0;
      if (this.#snapshot.connection.kind !== 'live') this.#set({ connection: { kind: 'live' } });
    };
    for await (const { events, at } of this.#host.read(this.#at, signal, heard)) {
      if (signal.aborted) return false;
      hasAnswer = true;
      this.#failures = 0;
      const fold = foldEvents(this.#snapshot.view, events, wasReset);
      wasReset ||= fold.wasReset;
      this.#at = fold.hasGap ? String(fold.view.lastSeq) : at;
      for (const follower of this.#followers) follower(fold);
      this.#set({ view: fold.view, connection: { kind: 'live' } });
      if (!fold.hasGap) continue;
      // Asking again at once would bring the same gap.
      if (fold.taken.length === 0) {
        this.#failures = failures;
        return false;
      }
      break;
    }
    return hasAnswer;
  }

  async #waitForRetry(signal: AbortSignal, leastMs: number): Promise<void> {
    const { now, random, wait } = this.#host;
    const milliseconds = pauseBeforeRetry(this.#failures, random(), leastMs);
    this.#failures += 1;
    this.#hurry = new AbortController();
    this.#set({
      connection: { kind: 'lost', since: this.#lastHeard, nextTry: now() + milliseconds },
    });
    await wait(milliseconds, AbortSignal.any([signal, this.#hurry.signal]));
    this.#hurry = null;
  }

  #set(change: Partial<TurnSnapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...change };
    for (const changed of this.#lookers) changed();
  }
}

/** Only the server itself can say so: a tunnel or proxy before it answers what it likes while the server is away. */
function isUseless({ code, status, isPassing }: OrionClientError): boolean {
  return !isPassing && code !== 'UNEXPECTED_ANSWER' && status < 500;
}
