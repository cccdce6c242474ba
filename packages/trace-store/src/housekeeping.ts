import { sleep } from '@orion/contracts';
import type { Clock, TraceInput, TraceStore } from '@orion/contracts';
import { pruneApprovals } from './approvals/sql-approvals.ts';
import { databaseNow, SqlRefusedError } from './engine/sql-database.ts';
import type { SqlDatabase } from './engine/sql-database.ts';
import { pruneKeys } from './served-turns/request-keys.ts';
import { pruneOutputs } from './tool-outputs/prune-outputs.ts';
import { pruneTraces } from './traces/prune-traces.ts';
import type { SqlTurnLog } from './turn-log/sql-turn-log.ts';

const NOT_ALLOWED = '42501';
/** Turns that were idle for so long lose what they streamed, and traces and outputs are deleted. */
const RETENTION_MS = 30 * 86_400_000;
const FOLD_ROUND = 100;
/** How long the end of the process waits for it; the next process does the rest. */
const LAST_MS = 250;
const MAX_TRACE_BYTES = 512 * 1024 * 1024;
/** Of each project. */
const MAX_OUTPUT_BYTES = 512 * 1024 * 1024;
const EVERY_MS = 3_600_000;
/** The most ids of removed outputs that a trace names. */
const NAMED_OUTPUTS = 100;

export type HousekeepingOptions = {
  readonly database: SqlDatabase;
  readonly turnLog: Pick<SqlTurnLog, 'foldOldTurns'>;
  readonly traces: Pick<TraceStore, 'record'>;
  readonly clock: Clock;
};

/** Removes what is old beside the turns: a process that writes also tidies up, and no timer keeps it alive. */
export class Housekeeping {
  readonly #options: HousekeepingOptions;
  #running: Promise<unknown> | null = null;
  #begunAt = -Infinity;
  #isEnding = false;

  constructor(options: HousekeepingOptions) {
    this.#options = options;
  }

  /** At most once an hour. */
  begin(): void {
    const time = this.#options.clock.monotonic();
    if (time - this.#begunAt < EVERY_MS) return;
    this.#begunAt = time;
    this.#running = Promise.resolve(this.#running)
      .then(() => this.#tidyUp())
      .catch((error: unknown) => this.#report(error));
  }

  /**
   * Waits a moment for what is under way, but no longer than until `cut` is aborted. Nothing is recorded any more: the
   * traces may be closed, and what is interrupted has not failed.
   */
  async settled(cut?: AbortSignal): Promise<void> {
    this.#isEnding = true;
    if (this.#running === null) return;
    const ended = new AbortController();
    void this.#running.then(() => ended.abort());
    await sleep(this.#options.clock, LAST_MS, ended.signal, ...(cut === undefined ? [] : [cut]));
  }

  async #tidyUp(): Promise<void> {
    const { database } = this.#options;
    // By the database's clock: a process whose own is days ahead would delete what others need.
    const [time] = await database.all(`select ${databaseNow(database.dialect)} as now`);
    const now = Number(time?.['now'] ?? 0);
    const before = now - RETENTION_MS;
    await this.#try(() => this.#foldTurns());
    await this.#try(() => this.#pruneOutputs(now, before));
    await this.#try(() => pruneTraces(database, { before, maxBytes: MAX_TRACE_BYTES }));
    await this.#try(() => pruneKeys(database));
    await this.#try(() => pruneApprovals(database, before));
  }

  /**
   * What cannot be removed keeps nothing else from being removed. A user of the database who may not remove something is
   * not to.
   */
  async #try(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const isForbidden = error instanceof SqlRefusedError && error.reason === NOT_ALLOWED;
      if (!isForbidden) this.#report(error);
    }
  }

  #report(error: unknown): void {
    this.#record({ type: 'housekeeping_failed', error });
  }

  #record(event: TraceInput): void {
    if (!this.#isEnding) this.#options.traces.record({ ...event, source: 'trace-store' });
  }

  async #foldTurns(): Promise<void> {
    // A server makes more turns in an hour than one round folds.
    while ((await this.#options.turnLog.foldOldTurns(RETENTION_MS, FOLD_ROUND)) === FOLD_ROUND);
  }

  async #pruneOutputs(now: number, before: number): Promise<void> {
    const removed = await pruneOutputs(this.#options.database, {
      now,
      before,
      maxBytes: MAX_OUTPUT_BYTES,
    });
    if (removed.length > 0) {
      const ids = removed.slice(0, NAMED_OUTPUTS);
      this.#record({ type: 'tool_outputs_expired', details: { count: removed.length, ids } });
    }
  }
}
