import type { Clock, RunEvent, TurnLog, TurnLogEvent } from '@orion/contracts';
import { countLineFeeds, OrionError } from '@orion/contracts';

import { ownPace } from '../turn/join-text.ts';
import type { TextPace } from '../turn/join-text.ts';
import { charactersOf, logEventOf } from './log-entry.ts';
import type { StoreHealth } from './store-health.ts';
import type { TurnWriter } from './turn-writer.ts';

/** A batch is handed to the log after so long, or when it has so many lines; an event counts as one at least. */
const BATCH_MS = 100;
const BATCH_LINES = 50;
/** The most events of one append. */
const MAX_APPEND = 500;
/** What may wait while the log does not answer, in events and in text; with more the rest is not logged. */
const MAX_BACKLOG = 10_000;
const MAX_BACKLOG_CHARACTERS = 16 * 1024 * 1024;
/** So long after its end a turn's events still go to a log that was away. */
const LINGER_MS = 60_000;
/** A turn that this process begins has no earlier one. */
const ATTEMPT = 1;
const RETRY_MS: readonly number[] = [50, 200, 500, 1000];

type Waiting = { readonly event: TurnLogEvent; readonly characters: number };

export type TurnJournalOptions = {
  readonly log: TurnLog;
  readonly clock: Clock;
  readonly turnId: string;
  readonly health: StoreHealth;
};

/**
 * Writes the events of one turn to the turn log, beside the turn.
 *
 * 1. `note` never waits and never fails; events are appended in their order, one append at a time.
 * 2. An append whose outcome is unknown is repeated as it was: the log recognises it.
 * 3. What waits is bounded. When the log is lost for this turn, later events are counted and left out, so that what
 *    is stored is always a beginning of the turn.
 * 4. The turn waits as long as the health of the store says; what is not stored when it ends is written beside whatever
 *    comes next. `finished` resolves on every path.
 */
export class TurnJournal implements TurnWriter {
  readonly lastSeq: number = 0;
  readonly fence: null = null;
  readonly lost: AbortSignal = new AbortController().signal;
  /** Its reader sees each event beside the log. */
  readonly pace: TextPace;
  readonly #options: TurnJournalOptions;
  readonly #waiting: Waiting[] = [];
  /** Of what waits, how many events are in an append that was not answered: it is repeated with these alone. */
  #unanswered = 0;
  #lines = 0;
  /** Of what waits. */
  #characters = 0;
  #appending: Promise<void> | null = null;
  /** Null before the turn is acquired. */
  #epoch: number | null = null;
  #lost = false;
  #ended = false;
  /** No attempt follows one that fails. */
  #finishing = false;
  #dropped = 0;
  #cancelTimer: (() => void) | null = null;
  #cancelLinger: (() => void) | null = null;
  #retryNow: (() => void) | null = null;
  readonly #finished = Promise.withResolvers<void>();

  constructor(options: TurnJournalOptions) {
    this.#options = options;
    this.pace = ownPace(options.clock);
  }

  /** Events that are not in the log and will not be. */
  dropped(): number {
    return this.#dropped;
  }

  /** When it is known of every event whether it is in the log, after the turn has ended. */
  get finished(): Promise<void> {
    return this.#finished.promise;
  }

  /** Takes the turn in the log, beside what the turn begins with: a log that has to be opened first is open sooner. */
  open(): void {
    this.#start();
  }

  note(event: RunEvent): void {
    if (this.#lost) {
      this.#dropped += 1;
      return;
    }
    const characters = charactersOf(event);
    this.#waiting.push({ event: logEventOf(event), characters });
    this.#characters += characters;
    if (this.#waiting.length > MAX_BACKLOG || this.#characters > MAX_BACKLOG_CHARACTERS) {
      this.#lose();
      return;
    }
    this.#lines += 1 + textLines(event);
    if (this.#lines >= BATCH_LINES) this.#start();
    else this.#cancelTimer ??= this.#options.clock.schedule(BATCH_MS, () => this.#start());
  }

  /** When everything noted so far is stored, or that is not worth waiting for. Never rejects. */
  async settled(): Promise<void> {
    this.#start();
    if (this.#appending !== null) await this.#options.health.wait(this.#appending);
  }

  /** Nothing: what the log cannot take is left out. */
  room(): null {
    return null;
  }

  confirm(): Promise<void> {
    return Promise.resolve();
  }

  /** Nobody else continues the turn of a command. */
  leave(): Promise<void> {
    return this.end();
  }

  /** The conversation is stored beside it. */
  async conclude(done: RunEvent): Promise<void> {
    this.note(done);
    await this.end();
  }

  /** After the last event. Like `settled`; what is not stored by then is retried for a while. */
  async end(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    this.#cancelLinger = this.#options.clock.schedule(LINGER_MS, () => this.#lose());
    this.#retryNow?.();
    await this.settled();
    this.#finishIfEmpty();
  }

  /** The same for the last time: what the next attempt does not store is lost. */
  async finish(): Promise<void> {
    this.#ended = true;
    this.#finishing = true;
    this.#retryNow?.();
    this.#start();
    this.#finishIfEmpty();
    await this.finished;
  }

  /** Gives up what is not stored now. */
  abandon(): void {
    this.#ended = true;
    this.#lose();
  }

  #start(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#lines = 0;
    if (this.#lost || this.#appending !== null) return;
    if (this.#epoch !== null && this.#waiting.length === 0) return;
    this.#appending = this.#appendAll().finally(() => {
      this.#appending = null;
      this.#finishIfEmpty();
    });
  }

  async #appendAll(): Promise<void> {
    for (let attempt = 0; (this.#epoch === null || this.#waiting.length > 0) && !this.#lost;) {
      try {
        await this.#appendOnce();
        attempt = 0;
      } catch (error) {
        this.#options.health.report(error);
        // Only of an unknown outcome, or a database that is away, is it known that a repeat can help.
        const again = OrionError.isInstance(error) && error.retryable;
        if (!again || this.#finishing) {
          this.#lose();
          return;
        }
        await this.#pause(RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)] ?? 0);
        attempt += 1;
      }
    }
  }

  async #appendOnce(): Promise<void> {
    const { log, turnId } = this.#options;
    // Of an acquire without an answer nothing remains but an epoch that is not used.
    const epoch = (this.#epoch ??= (await log.acquire(turnId, ATTEMPT)).epoch);
    const batch = this.#waiting.slice(0, this.#unanswered || MAX_APPEND);
    const events = batch.map(({ event }) => event);
    const [first] = events;
    if (first === undefined) return;
    this.#unanswered = batch.length;
    await log.append(turnId, epoch, first.seq, events);
    this.#unanswered = 0;
    this.#waiting.splice(0, batch.length);
    for (const { characters } of batch) this.#characters -= characters;
  }

  async #pause(milliseconds: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.schedule(milliseconds, resolve);
      this.#retryNow = () => {
        cancel();
        resolve();
      };
    });
    this.#retryNow = null;
  }

  #lose(): void {
    this.#lost = true;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#dropped += this.#waiting.length;
    this.#waiting.length = 0;
    this.#retryNow?.();
    this.#finishIfEmpty();
  }

  #finishIfEmpty(): void {
    if (!this.#ended || this.#waiting.length > 0) return;
    this.#cancelLinger?.();
    this.#cancelLinger = null;
    this.#finished.resolve();
  }
}

/** Content of a file does not count: only its place is stored, and the text itself is safe already. */
function textLines(event: RunEvent): number {
  return event.type === 'chunk' ? countLineFeeds(event.content) : 0;
}
