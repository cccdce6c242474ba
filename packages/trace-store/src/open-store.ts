import type {
  Clock,
  ConversationStore,
  ToolOutputStore,
  TraceStore,
  TurnLog,
} from '@orion/contracts';
import { createSqlConversationStore } from './conversations/sql-conversation-store.ts';
import { databaseFileExists } from './engine/database-file.ts';
import { openEmptyDatabase } from './engine/empty-database.ts';
import { createLazyDatabase } from './engine/lazy-database.ts';
import type { DatabaseObserver } from './engine/lazy-database.ts';
import { openPostgres } from './engine/postgres.ts';
import type { PostgresOptions } from './engine/postgres.ts';
import { reportRefusals } from './engine/reported-database.ts';
import type { SqlDatabase } from './engine/sql-database.ts';
import { openSqlite } from './engine/sqlite.ts';
import { createMemoryTraceStore } from './memory/memory-trace-store.ts';
import type { MemoryTraceStoreOptions } from './memory/memory-trace-store.ts';
import { isWithoutSchema, migrate } from './migrations/migrate.ts';
import { createSqlToolOutputStore } from './tool-outputs/sql-tool-output-store.ts';
import { pruneTraces } from './traces/prune-traces.ts';
import { createSqlTraceStore } from './traces/sql-trace-store.ts';
import { createSqlTurnLog } from './turn-log/sql-turn-log.ts';

export type StoreLocation =
  /** The folder of the file must be there when the store is first used; see `prepare`. */
  | { readonly kind: 'sqlite'; readonly path: string }
  /** `postgres://user:password@host:port/database`, with `?sslmode=require` for a checked TLS connection. */
  | { readonly kind: 'postgres'; readonly url: string }
  /** For as long as the process lives. */
  | { readonly kind: 'memory' };

export type StoreOptions = {
  readonly clock: Clock;
  /**
   * `false` for those who only read: a database that is not there, or is without our tables, is then not made but
   * reads as an empty one for as long as this store is open.
   */
  readonly create?: boolean;
  /** Called once before the database is opened, to make the folder that it lies in. */
  readonly prepare?: () => Promise<void>;
  /** Sees every attempt to use the database, also in the background: whoever waits for the store knows how it is. */
  readonly observe?: DatabaseObserver;
  /** Turns in which nothing happened for so many days lose what they streamed, and traces go; 30 when left out. */
  readonly turnRetentionDays?: number;
  /** How often a reader of a turn looks by itself; 1,000 when left out. */
  readonly sweepMs?: number;
  /** Who sees traces as they are recorded, what is taken out of them, who hears of the first that is lost, and whether that is fatal. */
  readonly traces?: Pick<MemoryTraceStoreOptions, 'onEvent' | 'onFirstDrop' | 'redact' | 'strict'>;
  /** Random ids; those of the platform when left out. */
  readonly createId?: () => string;
  readonly postgres?: PostgresOptions;
};

/** Everything durable but the files of a workspace. */
export interface Store {
  readonly traces: TraceStore;
  readonly conversations: ConversationStore;
  readonly toolOutputs: ToolOutputStore;
  readonly turnLog: TurnLog;
  /** Waits a moment for what is being stored, and no longer than until `cut` aborts. */
  close(cut?: AbortSignal): Promise<void>;
}

const DEFAULT_RETENTION_DAYS = 30;
const DAY_MS = 86_400_000;
const TIDY_UP_MS = 250;
const MAX_TRACE_BYTES = 512 * 1024 * 1024;

/**
 * The store at that place. Making it does nothing: the database is opened, and its schema brought up to date, by
 * the first use. One that cannot be opened rejects each call with `STORE_UNAVAILABLE` or `STORE_TOO_NEW`, and is
 * tried again.
 */
export function openStore(location: StoreLocation, options: StoreOptions): Store {
  const { clock } = options;
  const database = createLazyDatabase(
    location.kind === 'postgres' ? 'postgres' : 'sqlite',
    async ({ closing, cut }) => {
      const { create = true } = options;
      if (!create && location.kind === 'sqlite' && !databaseFileExists(location.path)) {
        return openEmptyDatabase('sqlite');
      }
      if (create) await options.prepare?.();
      const opened = await openAt(location, options, closing);
      // A server that hangs in the middle of this must not hold up the end of the process.
      closing.addEventListener('abort', () => void opened.close(cut), { once: true });
      try {
        if (!create && (await isWithoutSchema(opened))) {
          await opened.close();
          return openEmptyDatabase(opened.dialect);
        }
        await migrate(opened);
      } catch (error) {
        await opened.close();
        throw error;
      }
      return opened;
    },
    options.observe,
  );
  const reported = reportRefusals(database);
  const createId = options.createId ?? (() => crypto.randomUUID());
  const traces =
    location.kind === 'memory'
      ? createMemoryTraceStore({ clock, ...options.traces })
      : createSqlTraceStore(database, { clock, createId, ...options.traces });
  const sqlTurnLog = createSqlTurnLog(reported, {
    clock,
    ...(options.sweepMs === undefined ? {} : { sweepMs: options.sweepMs }),
  });
  const retentionMs = (options.turnRetentionDays ?? DEFAULT_RETENTION_DAYS) * DAY_MS;
  let folding: Promise<unknown> | null = null;
  const tidyUp = async (before: number): Promise<void> => {
    await sqlTurnLog.foldOldTurns(before);
    await pruneTraces(database, { before, maxBytes: MAX_TRACE_BYTES });
  };

  return {
    traces,
    conversations: createSqlConversationStore(reported, { clock }),
    toolOutputs: createSqlToolOutputStore(reported),
    turnLog: {
      ...sqlTurnLog,
      async acquire(turnId, epoch) {
        await sqlTurnLog.acquire(turnId, epoch);
        // Once for a process and beside its turn: whoever writes also tidies up, and no timer keeps it alive.
        folding ??= tidyUp(clock.now() - retentionMs).catch(() => undefined);
      },
    },
    async close(cut) {
      try {
        await traces.close(cut);
        // Tidying up has the time of a pause; what is left is for the next process.
        if (folding !== null) await endsWithin(clock, TIDY_UP_MS, folding, cut);
      } finally {
        await database.close(cut);
      }
    },
  };
}

function openAt(
  location: StoreLocation,
  options: StoreOptions,
  signal: AbortSignal,
): Promise<SqlDatabase> {
  switch (location.kind) {
    case 'sqlite':
      return openSqlite(location.path, { signal });
    case 'postgres':
      return openPostgres(location.url, options.postgres);
    case 'memory':
      return openSqlite(':memory:');
  }
  return location satisfies never;
}

/** `work` never rejects. */
function endsWithin(
  clock: Clock,
  milliseconds: number,
  work: Promise<unknown>,
  cut: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      cut?.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.schedule(milliseconds, end);
    cut?.addEventListener('abort', end, { once: true });
    if (cut?.aborted === true) end();
    void work.then(end);
  });
}
