import { randomUUID } from 'node:crypto';
import { sleep } from '@orion/contracts';
import type {
  Approvals,
  Clock,
  ConversationStore,
  OrionError,
  RequestKeys,
  ServedTurns,
  ServingHold,
  ToolOutputStore,
  TraceStore,
  TurnLog,
} from '@orion/contracts';
import { createSqlApprovals, pruneApprovals } from './approvals/sql-approvals.ts';
import { createSqlConversationStore } from './conversations/sql-conversation-store.ts';
import {
  checkDatabaseFile,
  databaseFileExists,
  makeDatabasePrivate,
} from './engine/database-file.ts';
import { openEmptyDatabase } from './engine/empty-database.ts';
import { createLazyDatabase } from './engine/lazy-database.ts';
import type { DatabaseObserver } from './engine/lazy-database.ts';
import { openPostgres } from './engine/postgres.ts';
import { reportRefusals } from './engine/reported-database.ts';
import { databaseNow } from './engine/sql-database.ts';
import type { SqlDatabase } from './engine/sql-database.ts';
import { isForeign, requireOwn } from './engine/inspect-sqlite.ts';
import { inspectSqlite, MEMORY, openSqlite } from './engine/sqlite.ts';
import type { StoreOwner } from './engine/store-owner.ts';
import { WriteTrial } from './engine/write-trial.ts';
import { claimKey, pruneKeys } from './served-turns/request-keys.ts';
import { holdServing } from './served-turns/serving-hold.ts';
import { createSqlServedTurns } from './served-turns/sql-served-turns.ts';
import { createMemoryTraceStore } from './memory/memory-trace-store.ts';
import type { MemoryTraceStoreOptions } from './memory/memory-trace-store.ts';
import { createSchema, isWithoutSchema, migrate } from './migrations/migrate.ts';
import { pruneOutputs } from './tool-outputs/prune-outputs.ts';
import { createSqlToolOutputStore } from './tool-outputs/sql-tool-output-store.ts';
import { pruneTraces } from './traces/prune-traces.ts';
import { createSqlTraceStore } from './traces/sql-trace-store.ts';
import { createSqlTurnLog } from './turn-log/sql-turn-log.ts';

export type StoreLocation =
  /** The folder of the file must exist when the store is first used; see `prepare`. */
  | { readonly kind: 'sqlite'; readonly path: string }
  /** `postgres://user:password@host:port/database`, with `?sslmode=require` for a checked TLS connection. */
  | { readonly kind: 'postgres'; readonly url: string }
  /** Lives as long as the process. */
  | { readonly kind: 'memory' };

export type StoreOptions = {
  readonly clock: Clock;
  /**
   * `false` for reading only: a database that is missing, or lacks our tables, is not created but reads as an empty one
   * for as long as this store is open.
   */
  readonly create?: boolean;
  /**
   * How a reader of a turn learns of what other processes store: `notify` (the default) lets Postgres notify and looks
   * once a second besides, `poll` looks every 100 ms and listens to nothing, as behind a pooler of connections.
   */
  readonly wake?: 'notify' | 'poll';
  /**
   * The owner that a SQLite file must have. A file that this owner has not signed is STORE_FOREIGN and is neither read
   * nor written. If null or left out, any store with a schema of ours is accepted.
   */
  readonly owner?: () => Promise<StoreOwner | null>;
  /** Called with a STORE_FOREIGN; a store in memory then takes its place. If left out, each call rejects with it. */
  readonly onForeign?: (error: OrionError) => void;
  /** Called before the database is opened, to create its folder. */
  readonly prepare?: () => Promise<void>;
  /** Sees every attempt to use the database, including those in the background, so that a caller knows its state. */
  readonly observe?: DatabaseObserver;
  /** Who sees traces as they are recorded, what is removed from them, and what happens when one is lost. */
  readonly traces?: Pick<MemoryTraceStoreOptions, 'onEvent' | 'onFirstDrop' | 'redact' | 'strict'>;
};

/** Statements as they are, through the connections of the store and with its errors. */
export type EngineDatabase = {
  /** Several statements may come in one text without values. Resolves to what the driver answers. */
  executeSql(text: string, values?: readonly unknown[]): Promise<unknown>;
  /** Calls back for each NOTIFY until stopped; not at all in a store whose readers poll. */
  listen(channel: string, onMessage: () => void): () => void;
};

/** Everything durable but the files of a workspace. */
export interface Store {
  readonly traces: TraceStore;
  readonly conversations: ConversationStore;
  readonly toolOutputs: ToolOutputStore;
  readonly turnLog: TurnLog;
  readonly servedTurns: ServedTurns;
  readonly requestKeys: RequestKeys;
  readonly approvals: Approvals;
  /**
   * Makes this process the one that runs the served turns of this store, or one of those that say the same `sharedBy`
   * (Postgres only; at most 50 letters, digits and `-`), until it releases it or dies. Rejects with STORE_IN_USE, which
   * names the process that does.
   */
  holdServing(options?: { readonly sharedBy?: string }): Promise<ServingHold>;
  /** For a library that keeps tables of its own in the same database; null if that is not a Postgres. */
  readonly engineDatabase: EngineDatabase | null;
  /** Rejects with STORE_UNAVAILABLE where nothing can be written: a Postgres that only reads, or has no room. */
  tryWrite(): Promise<void>;
  /** For how many milliseconds readers of the turn log have been waiting for what is stored. */
  readerLagMs(): number;
  /** What the database lately took for an append to the turn log, as the 99th percentile, in milliseconds. */
  appendMs(): number;
  /** Waits a moment for pending writes, but no longer than until `cut` is aborted. */
  close(cut?: AbortSignal): Promise<void>;
}

/** Turns that were idle for so long lose what they streamed, and traces and outputs are deleted. */
const RETENTION_MS = 30 * 86_400_000;
const FOLD_ROUND = 100;
/** How often readers look that no notification wakes. */
const POLL_MS = 100;
const TIDY_UP_MS = 250;
const MAX_TRACE_BYTES = 512 * 1024 * 1024;
/** Of each project. */
const MAX_OUTPUT_BYTES = 512 * 1024 * 1024;
/** How often a process that writes tidies up. */
const TIDY_UP_EVERY_MS = 3_600_000;
/** The most ids of removed outputs that a trace names. */
const NAMED_OUTPUTS = 100;

/**
 * The store at that location. Creating it does nothing: the first use opens the database and brings its schema up to
 * date. A database that cannot be opened rejects each call with `STORE_UNAVAILABLE`, `STORE_TOO_NEW` or
 * `STORE_FOREIGN`, and is tried again.
 */
export function openStore(location: StoreLocation, options: StoreOptions): Store {
  const { clock } = options;
  const writeTrial = new WriteTrial();
  const database = createLazyDatabase(
    location.kind === 'postgres' ? 'postgres' : 'sqlite',
    async ({ closing, cut }) => {
      const { create = true, onForeign } = options;
      if (!create && location.kind === 'sqlite' && !databaseFileExists(location.path)) {
        return openEmptyDatabase('sqlite');
      }
      let opened: SqlDatabase;
      try {
        if (create) await options.prepare?.();
        opened = await openAt(location, options, closing);
      } catch (error) {
        if (onForeign === undefined || !isForeign(error)) throw error;
        onForeign(error);
        opened = await openSqlite(MEMORY);
      }
      // A server that hangs in the middle of this must not delay the end of the process.
      closing.addEventListener('abort', () => void opened.close(cut), { once: true });
      try {
        if (!create && (await isWithoutSchema(opened))) {
          await opened.close();
          return openEmptyDatabase(opened.dialect);
        }
        await migrate(opened);
        // A store opened for reading changes nothing, whatever a statement tries.
        if (!create && opened.dialect === 'sqlite') await opened.run('pragma query_only = on');
      } catch (error) {
        await opened.close();
        throw error;
      }
      return opened;
    },
    (attempt, kind) => {
      writeTrial.observe(attempt);
      options.observe?.(attempt, kind);
    },
  );
  const reported = reportRefusals(database);
  const traces =
    location.kind === 'memory'
      ? createMemoryTraceStore({ clock, ...options.traces })
      : createSqlTraceStore(database, { clock, createId: randomUUID, ...options.traces });
  const sqlTurnLog = createSqlTurnLog(database, {
    clock,
    ...(options.wake === 'poll' ? { sweepMs: POLL_MS, listens: false } : {}),
  });
  let tidying: Promise<unknown> | null = null;
  let tidiedAt = -Infinity;
  const tidyUp = async (): Promise<void> => {
    // A server makes more turns in an hour than one round folds.
    while ((await sqlTurnLog.foldOldTurns(RETENTION_MS, FOLD_ROUND)) === FOLD_ROUND);
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
  };

  return {
    traces,
    conversations: createSqlConversationStore(reported, { clock }),
    toolOutputs: createSqlToolOutputStore(reported),
    turnLog: {
      ...sqlTurnLog,
      async acquire(turnId, attempt) {
        const claim = await sqlTurnLog.acquire(turnId, attempt);
        // Beside a turn, at most once an hour: a process that writes also tidies up, and no timer keeps it alive.
        const time = clock.monotonic();
        if (time - tidiedAt >= TIDY_UP_EVERY_MS) {
          tidiedAt = time;
          const earlier = tidying;
          tidying = Promise.resolve(earlier)
            .then(tidyUp)
            .catch(() => undefined);
        }
        return claim;
      },
    },
    servedTurns: createSqlServedTurns(reported, {
      onAppend: (turnId, lastSeq) => sqlTurnLog.wake(turnId, lastSeq),
    }),
    requestKeys: {
      claim: (projectId, key, made, unmade) => claimKey(reported, projectId, key, made, unmade),
    },
    approvals: createSqlApprovals(reported),
    holdServing: (sharing) => holdServing(reported, clock, sharing),
    engineDatabase: location.kind === 'postgres' ? engineDatabase(reported, options.wake) : null,
    tryWrite: () => writeTrial.run(reported),
    readerLagMs: () => sqlTurnLog.lag(),
    appendMs: () => sqlTurnLog.appendMs(),
    async close(cut) {
      try {
        await traces.close(cut);
        // Tidying up gets a moment; the next process does the rest.
        if (tidying !== null) await endsWithin(clock, TIDY_UP_MS, tidying, cut);
      } finally {
        await database.close(cut);
      }
    },
  };
}

function engineDatabase(database: SqlDatabase, wake: StoreOptions['wake']): EngineDatabase | null {
  const { raw } = database;
  if (raw === undefined) return null;
  return {
    executeSql: raw,
    listen: (channel, onMessage) =>
      wake === 'poll' ? () => undefined : database.listen(channel, () => onMessage()),
  };
}

function openAt(
  location: StoreLocation,
  options: StoreOptions,
  signal: AbortSignal,
): Promise<SqlDatabase> {
  switch (location.kind) {
    case 'sqlite':
      return openFile(location.path, options, signal);
    case 'postgres':
      return openPostgres(location.url);
    case 'memory':
      return openSqlite(MEMORY);
  }
  return location satisfies never;
}

/** The check comes first: a SQLite statement cannot be interrupted, whatever the file makes it do. */
async function openFile(
  path: string,
  { create = true, owner: findOwner }: StoreOptions,
  signal: AbortSignal,
): Promise<SqlDatabase> {
  const isFilled = checkDatabaseFile(path);
  const owner = (await findOwner?.()) ?? null;
  if (isFilled) requireOwn(path, await inspectSqlite(path, { signal }), owner);
  const opened = await openSqlite(path, { signal });
  try {
    makeDatabasePrivate(path);
    if (!create) return opened;
    await createSchema(opened, owner);
    // Another process may have created it meanwhile.
    if (!isFilled) requireOwn(path, await inspectSqlite(path, { signal }), owner);
    return opened;
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** `work` never rejects. */
async function endsWithin(
  clock: Clock,
  milliseconds: number,
  work: Promise<unknown>,
  cut: AbortSignal | undefined,
): Promise<void> {
  const ended = new AbortController();
  void work.then(() => {
    ended.abort();
  });
  await sleep(clock, milliseconds, ended.signal, ...(cut === undefined ? [] : [cut]));
}
