import { OrionError, sleep } from '@orion/contracts';
import type { Clock } from '@orion/contracts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { describeThrown } from '../safety/json-safety.ts';
import type { TraceQueue } from './trace-queue.ts';
import type { TraceRow } from './trace-row.ts';
import { batchSize, insertRows } from './trace-statements.ts';

export type TraceWriterOptions = {
  readonly clock: Clock;
  /** A row that the database refuses, and why; it is not tried again. */
  readonly onRefused: (reason: string) => void;
};

const BATCH_ROWS = 100;
const BATCH_MS = 100;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;

/**
 * Moves rows from the queue into the database.
 *
 * 1. One insert at a time, the oldest rows first; a row leaves the queue when it is stored or refused for good.
 * 2. An insert that is refused is tried row by row, so that one bad row costs no other.
 * 3. An insert of which nothing is known (the database is away, full or locked) is tried again as it was, later and
 *    later, at most every 5 s; the rows' ids make a repeat harmless.
 * 4. A batch is begun when it is full, when its first row has waited for 100 ms, or when someone waits for it.
 */
export class TraceWriter {
  readonly #database: SqlDatabase;
  readonly #queue: TraceQueue;
  readonly #options: TraceWriterOptions;
  #writing = false;
  /** Everything is to be written, full batch or not. */
  #everything = false;
  #stopped = false;
  /** Only one more attempt is made while this is set. */
  #closing = false;
  #cancelTimer: (() => void) | null = null;
  #retryMs = FIRST_RETRY_MS;
  #waiting = false;
  /** The oldest rows may have gone in already: the answer to their last insert was not heard. */
  #unanswered = false;
  #failure: Error | null = null;
  /** Those who wait, and how many rows must have left the queue for them. */
  readonly #waiters = new Map<AbortController, number>();

  constructor(database: SqlDatabase, queue: TraceQueue, options: TraceWriterOptions) {
    this.#database = database;
    this.#queue = queue;
    this.#options = options;
  }

  /** A row has come into the queue. */
  wake(): void {
    if (this.#writing || this.#waiting || this.#stopped) return;
    // What comes while rows are written is seen when that is over.
    if (this.#queue.size >= BATCH_ROWS) this.#start();
    else this.#cancelTimer ??= this.#options.clock.schedule(BATCH_MS, this.#onTimer);
  }

  /** Resolves when every row that is in the queue now is stored or refused, or when the time is over. */
  async drain(milliseconds: number, cut?: AbortSignal): Promise<void> {
    if (this.#queue.size === 0 || cut?.aborted === true) return;
    this.#everything = true;
    if (!this.#writing) this.#start();
    const gone = new AbortController();
    this.#waiters.set(gone, this.#queue.removed + this.#queue.size);
    const ends = cut === undefined ? [gone.signal] : [gone.signal, cut];
    await sleep(this.#options.clock, milliseconds, ...ends);
    this.#waiters.delete(gone);
  }

  /** The last drain. A database that is away is asked once more, and not waited for. */
  async stop(milliseconds: number, cut?: AbortSignal): Promise<void> {
    this.#closing = true;
    await this.drain(milliseconds, cut);
    this.#stopped = true;
    this.#clearTimer();
  }

  /** Throws the first failure since the last call, for those who want every one to be fatal. */
  throwFailure(): void {
    const failure = this.#failure;
    this.#failure = null;
    if (failure !== null) throw failure;
  }

  readonly #onTimer = (): void => {
    this.#cancelTimer = null;
    this.#everything = true;
    this.#start();
  };

  #start(): void {
    this.#clearTimer();
    this.#waiting = false;
    if (this.#writing || this.#stopped) return;
    this.#writing = true;
    void this.#writeAll();
  }

  /** Never rejects: what goes wrong is either the rows' fault or the database's, and both have their way. */
  async #writeAll(): Promise<void> {
    let away = false;
    while (!away && !this.#stopped) {
      const waiting = this.#queue.size;
      if (waiting === 0 || (waiting < BATCH_ROWS && !this.#everything)) break;
      const rows = this.#queue.peek(
        batchSize(this.#database.dialect, Math.min(waiting, BATCH_ROWS)),
      );
      away = (await this.#write(rows)) === 'away';
      this.#release(this.#queue.removed);
      if (away) {
        this.#unanswered = true;
      } else {
        // The queue only grows behind them, so that these rows were all of those.
        this.#unanswered = false;
        this.#retryMs = FIRST_RETRY_MS;
        // SQLite answers without giving way to anything else.
        if (this.#database.dialect === 'sqlite') await nextMacrotask();
      }
    }
    this.#writing = false;
    if (this.#stopped) return;
    if (this.#queue.size === 0 || (away && this.#closing)) this.#everything = false;
    if (away && this.#closing) this.#release(Infinity);
    if (away && !this.#closing) this.#retryLater();
    else if (this.#queue.size > 0 && !this.#closing) this.wake();
  }

  async #write(rows: readonly TraceRow[]): Promise<'done' | 'away'> {
    const error = await this.#insert(rows);
    if (this.#stopped) return 'away';
    if (error === null) {
      this.#queue.remove(rows.length);
      return 'done';
    }
    this.#failure ??= error;
    if (isAway(error)) return 'away';
    if (rows.length === 1) {
      this.#queue.remove(1);
      this.#options.onRefused(describeThrown(error));
      return 'done';
    }
    for (const row of rows) {
      if ((await this.#write([row])) === 'away') return 'away';
    }
    return 'done';
  }

  async #insert(rows: readonly TraceRow[]): Promise<Error | null> {
    try {
      const { sql, parameters } = insertRows(this.#database.dialect, rows, this.#unanswered);
      await this.#database.run(sql, parameters);
      return null;
    } catch (error) {
      return error instanceof Error ? error : new Error(describeThrown(error));
    }
  }

  #release(removed: number): void {
    for (const [gone, wanted] of this.#waiters) if (removed >= wanted) gone.abort();
  }

  #retryLater(): void {
    this.#waiting = true;
    this.#cancelTimer = this.#options.clock.schedule(this.#retryMs, this.#onTimer);
    this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
  }

  #clearTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }
}

/** Nothing is known of the outcome, or nothing can be done at all; anything else is about the rows. */
function isAway(error: Error): boolean {
  return OrionError.isInstance(error) && error.code === 'STORE_UNAVAILABLE';
}

function nextMacrotask(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
