import { setImmediate } from 'node:timers/promises';
import { OrionError, sleep } from '@orion/contracts';
import type { Clock } from '@orion/contracts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { describeThrown } from '../safety/json-safety.ts';
import type { TraceQueue } from './trace-queue.ts';
import type { TraceRow } from './trace-row.ts';
import { batchSize, insertRows } from './trace-statements.ts';

export type TraceWriterOptions = {
  readonly clock: Clock;
  /** Called for each row that the database refuses, with the reason; it is not tried again. */
  readonly onRefused: (reason: string) => void;
};

const BATCH_ROWS = 100;
const BATCH_MS = 100;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;

/**
 * Moves rows from the queue into the database.
 *
 * 1. One insert at a time, oldest rows first; a row leaves the queue when it is stored or finally refused.
 * 2. A refused insert is tried row by row, so that one bad row costs no other.
 * 3. An insert with an unknown outcome (the database is unreachable, full or locked) is retried unchanged, with pauses
 *    that grow to 5 s; the ids of the rows make a repeat harmless.
 * 4. A batch starts when it is full, when its first row has waited for 100 ms, or when a caller waits for it.
 */
export class TraceWriter {
  readonly #database: SqlDatabase;
  readonly #queue: TraceQueue;
  readonly #options: TraceWriterOptions;
  #writing = false;
  /** Write everything, even if it is less than a full batch. */
  #everything = false;
  #stopped = false;
  /** While this is set, a failed attempt is not repeated. */
  #closing = false;
  #cancelTimer: (() => void) | null = null;
  #retryMs = FIRST_RETRY_MS;
  #waiting = false;
  /** The oldest rows may already be stored: the answer to their last insert was lost. */
  #unanswered = false;
  #failure: Error | null = null;
  /** The pending drains, and how many rows must have left the queue for each. */
  readonly #waiters = new Map<AbortController, number>();

  constructor(database: SqlDatabase, queue: TraceQueue, options: TraceWriterOptions) {
    this.#database = database;
    this.#queue = queue;
    this.#options = options;
  }

  /** To be called after a row was queued. */
  wake(): void {
    if (this.#writing || this.#waiting || this.#stopped) return;
    // Rows that arrive during a write are seen when it is over.
    if (this.#queue.size >= BATCH_ROWS) this.#start();
    else this.#cancelTimer ??= this.#options.clock.schedule(BATCH_MS, this.#onTimer);
  }

  /** Resolves when every row now in the queue is stored or refused, when the time is up, or when `cut` is aborted. */
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

  /** The last drain. An unreachable database gets one more attempt and is not waited for. */
  async stop(milliseconds: number, cut?: AbortSignal): Promise<void> {
    this.#closing = true;
    await this.drain(milliseconds, cut);
    this.#stopped = true;
    this.#clearTimer();
  }

  /** Throws the first failure since the last call, for callers that treat every failure as fatal. */
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

  /** Never rejects: every failure is either a row's or the database's, and both are handled. */
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
        // New rows are added behind these, so none of the unanswered ones is left.
        this.#unanswered = false;
        this.#retryMs = FIRST_RETRY_MS;
        // SQLite answers without yielding to the event loop.
        if (this.#database.dialect === 'sqlite') await setImmediate();
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

/** Whether the outcome is unknown or the database unusable; any other error is about the rows. */
function isAway(error: Error): boolean {
  return OrionError.isInstance(error) && error.code === 'STORE_UNAVAILABLE';
}
