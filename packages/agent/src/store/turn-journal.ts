import type { Clock, RunEvent, TurnLog, TurnLogEvent } from '@orion/contracts';
import { OrionError } from '@orion/contracts';

import { countLineFeeds } from '../turn/join-text.ts';
import { logEventOf } from './log-entry.ts';
import type { StoreTrouble } from './store-trouble.ts';
import { endsWithin } from './wait.ts';

/** A batch is handed to the log after so long, or when it has so many lines; an event counts as one at least. */
const BATCH_MS = 100;
const BATCH_LINES = 50;
/** The most events of one append. */
const MAX_APPEND = 500;
/** What may wait while the log does not answer, in events and in text; with more the rest is not logged. */
const MAX_BACKLOG = 10_000;
const MAX_BACKLOG_CHARACTERS = 16 * 1024 * 1024;
/** How long an effect on the disk waits for its event to be stored, and the end of a turn for all of them. */
const EFFECT_WAIT_MS = 250;
const END_WAIT_MS = 1000;
/** The same for a log that does not work: time for one more attempt. */
const END_ANYWAY_MS = 200;
const RETRY_MS: readonly number[] = [50, 200, 500, 1000];

export type TurnJournalOptions = {
  readonly log: TurnLog;
  readonly clock: Clock;
  readonly turnId: string;
  readonly trouble: StoreTrouble;
};

/**
 * Writes the events of one turn to the turn log, beside the turn.
 *
 * 1. `note` never waits and never fails; events are appended in their order, one append at a time.
 * 2. An append whose outcome is unknown is repeated as it was: the log recognises it.
 * 3. What waits is bounded. When the log is lost for this turn, later events are counted and left out, so that what
 *    is stored is always a beginning of the turn.
 */
export class TurnJournal {
  readonly #options: TurnJournalOptions;
  readonly #waiting: TurnLogEvent[] = [];
  #lines = 0;
  /** Of what waits and of what is being appended. */
  #characters = 0;
  #appending: Promise<void> | null = null;
  #acquired = false;
  #lost = false;
  #ending = false;
  #dropped = 0;
  #cancelTimer: (() => void) | null = null;
  #retryNow: (() => void) | null = null;
  #end: Promise<void> | null = null;

  constructor(options: TurnJournalOptions) {
    this.#options = options;
  }

  /** Events that are not in the log and will not be. */
  dropped(): number {
    return this.#dropped;
  }

  note(event: RunEvent): void {
    if (this.#lost) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(logEventOf(event));
    this.#characters += charactersOf(event);
    if (this.#waiting.length > MAX_BACKLOG || this.#characters > MAX_BACKLOG_CHARACTERS) {
      this.#lose();
      return;
    }
    this.#lines += 1 + textLines(event);
    if (this.#lines >= BATCH_LINES) this.#start();
    else this.#cancelTimer ??= this.#options.clock.schedule(BATCH_MS, () => this.#start());
  }

  /** When everything noted so far is stored, or the log takes too long. Never rejects. */
  async settled(): Promise<void> {
    // A log that already makes others wait is not waited for at every event.
    const { clock, trouble } = this.#options;
    if (this.#lost || trouble.failing()) return;
    this.#start();
    if (this.#appending === null) return;
    const inTime = await endsWithin(clock, EFFECT_WAIT_MS, this.#appending);
    if (!inTime) trouble.report(new Error('it does not answer'));
  }

  /** Stores what is left, gives up after a while, and leaves nothing behind. Never rejects. */
  end(): Promise<void> {
    this.#end ??= this.#finish();
    return this.#end;
  }

  async #finish(): Promise<void> {
    const { clock, trouble } = this.#options;
    this.#ending = true;
    this.#retryNow?.();
    this.#start();
    if (this.#appending !== null) {
      await endsWithin(clock, trouble.failing() ? END_ANYWAY_MS : END_WAIT_MS, this.#appending);
    }
    this.#lose();
  }

  #start(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#lines = 0;
    if (this.#lost || this.#waiting.length === 0 || this.#appending !== null) return;
    this.#appending = this.#appendAll().finally(() => {
      this.#appending = null;
    });
  }

  async #appendAll(): Promise<void> {
    for (let attempt = 0; this.#waiting.length > 0 && !this.#lost;) {
      try {
        await this.#appendOnce();
        attempt = 0;
        this.#options.trouble.recovered();
      } catch (error) {
        this.#options.trouble.report(error);
        // Only of an unknown outcome, or a database that is away, is it known that a repeat can help.
        const again = OrionError.isInstance(error) && error.retryable;
        if (!again || this.#ending) {
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
    if (!this.#acquired) {
      await acquire(log, turnId);
      this.#acquired = true;
    }
    const batch = this.#waiting.slice(0, MAX_APPEND);
    const [first] = batch;
    if (first === undefined) return;
    await log.append(turnId, EPOCH, first.seq, batch);
    this.#waiting.splice(0, batch.length);
    if (this.#waiting.length === 0) this.#characters = 0;
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
  }
}

/** A turn that this process begins is its own: nobody wrote it before. */
const EPOCH = 1;

/** A repeat of an acquire whose answer was lost is refused, although the turn is ours. */
async function acquire(log: TurnLog, turnId: string): Promise<void> {
  try {
    await log.acquire(turnId, EPOCH);
  } catch (error) {
    const refused = OrionError.isInstance(error) && error.code === 'FENCED';
    if (!refused || (await log.epochOf(turnId)) !== EPOCH) throw error;
  }
}

/** Of the parts that a model can make long. */
function charactersOf(event: RunEvent): number {
  switch (event.type) {
    case 'chunk':
      return event.content.length;
    case 'tool_calls':
      return event.calls.reduce((sum, call) => sum + call.arguments.length, 0);
    case 'tool_result':
      return event.summary.length;
    case 'done':
    case 'phase':
    case 'write_chunk':
    case 'write_rewind':
    case 'write_session':
    case 'usage':
    case 'error':
      return 0;
    default:
      return event satisfies never;
  }
}

/** Content of a file does not count: only its place is stored, and the text itself is safe already. */
function textLines(event: RunEvent): number {
  return event.type === 'chunk' ? countLineFeeds(event.content) : 0;
}
