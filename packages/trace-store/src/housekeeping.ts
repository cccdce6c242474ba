import { sleep } from '@orion/contracts';
import type { Clock, TraceStore } from '@orion/contracts';
import { pruneApprovals } from './approvals/sql-approvals.ts';
import { databaseNow } from './engine/sql-database.ts';
import type { SqlDatabase } from './engine/sql-database.ts';
import { pruneKeys } from './served-turns/request-keys.ts';
import { pruneOutputs } from './tool-outputs/prune-outputs.ts';
import { pruneTraces } from './traces/prune-traces.ts';
import type { SqlTurnLog } from './turn-log/sql-turn-log.ts';

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
      .catch(() => undefined);
  }

  /** Waits a moment for what is under way, but no longer than until `cut` is aborted. */
  async settled(cut?: AbortSignal): Promise<void> {
    if (this.#running === null) return;
    const ended = new AbortController();
    void this.#running.then(() => ended.abort());
    await sleep(this.#options.clock, LAST_MS, ended.signal, ...(cut === undefined ? [] : [cut]));
  }

  async #tidyUp(): Promise<void> {
    const { database, turnLog, traces } = this.#options;
    // A server makes more turns in an hour than one round folds.
    while ((await turnLog.foldOldTurns(RETENTION_MS, FOLD_ROUND)) === FOLD_ROUND);
    // By the database's clock: a process whose own is days ahead would delete what others need.
    const [time] = await database.all(`select ${databaseNow(database.dialect)} as now`);
    const now = Number(time?.['now'] ?? 0);
    const before = now - RETENTION_MS;
    const removed = await pruneOutputs(database, { now, before, maxBytes: MAX_OUTPUT_BYTES });
    if (removed.length > 0) {
      const ids = removed.slice(0, NAMED_OUTPUTS);
      traces.record({
        type: 'tool_outputs_expired',
        source: 'trace-store',
        details: { count: removed.length, ids },
      });
    }
    await pruneTraces(database, { before, maxBytes: MAX_TRACE_BYTES });
    await pruneKeys(database);
    await pruneApprovals(database, before);
  }
}
