import type {
  Approvals,
  ConversationStore,
  RequestKeys,
  ServedTurns,
  ServingHold,
  SessionContent,
  SharedRecords,
  StoreTransaction,
  ToolOutputStore,
  TraceStore,
  TurnLog,
} from '@orion/contracts';
import { createSqlApprovals } from './approvals/sql-approvals.ts';
import { createSqlConversationStore } from './conversations/sql-conversation-store.ts';
import { reportRefusals } from './engine/reported-database.ts';
import type { SqlDatabase } from './engine/sql-database.ts';
import { storeTransaction } from './engine/store-transaction.ts';
import { WriteTrial } from './engine/write-trial.ts';
import { Housekeeping } from './housekeeping.ts';
import { claimKey } from './served-turns/request-keys.ts';
import { holdServing } from './served-turns/serving-hold.ts';
import { createSqlServedTurns } from './served-turns/sql-served-turns.ts';
import type { StoreOptions } from './store-options.ts';
import { createSqlToolOutputStore } from './tool-outputs/sql-tool-output-store.ts';
import { createSqlTurnLog } from './turn-log/sql-turn-log.ts';
import { createSqlSessionContent } from './write-sessions/sql-session-content.ts';
import { createSqlSharedRecords } from './write-sessions/sql-shared-records.ts';

/** Statements as they are, through the connections of the store and with its errors. */
export type EngineDatabase = {
  /** Several statements may come in one text without values. Resolves to what the driver answers. */
  executeSql(text: string, values?: readonly unknown[]): Promise<unknown>;
  /** Undone if `work` rejects. */
  transaction<Result>(work: (inside: StoreTransaction) => Promise<Result>): Promise<Result>;
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
  /** Write sessions; null in a store that is not a Postgres. */
  readonly sessionContent: SessionContent | null;
  /** What else several hosts share of a workspace; null in a store that is not a Postgres. */
  readonly sharedRecords: SharedRecords | null;
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

/** How often readers look that no notification wakes. */
const POLL_MS = 100;

export type StoreParts = Pick<StoreOptions, 'clock' | 'wake'> & {
  readonly traces: TraceStore;
  /** That of a database whose attempts somebody observes. */
  readonly writeTrial?: WriteTrial;
};

/** Everything that a store has, over one database with our schema. */
export function storeOver(
  database: SqlDatabase,
  { clock, wake, traces, writeTrial = new WriteTrial() }: StoreParts,
): Store {
  const reported = reportRefusals(database);
  const sqlTurnLog = createSqlTurnLog(database, {
    clock,
    ...(wake === 'poll' ? { sweepMs: POLL_MS, listens: false } : {}),
  });
  const housekeeping = new Housekeeping({ database, turnLog: sqlTurnLog, traces, clock });
  const isPostgres = database.dialect === 'postgres';
  return {
    traces,
    conversations: createSqlConversationStore(reported),
    toolOutputs: createSqlToolOutputStore(reported),
    turnLog: {
      ...sqlTurnLog,
      async acquire(...turn) {
        const claim = await sqlTurnLog.acquire(...turn);
        // Beside a turn.
        housekeeping.begin();
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
    sessionContent: isPostgres ? createSqlSessionContent(database) : null,
    sharedRecords: isPostgres ? createSqlSharedRecords(reported) : null,
    holdServing: (sharing) => holdServing(reported, clock, sharing),
    engineDatabase: isPostgres ? engineDatabase(reported, wake) : null,
    tryWrite: () => writeTrial.run(reported),
    readerLagMs: () => sqlTurnLog.lag(),
    appendMs: () => sqlTurnLog.appendMs(),
    async close(cut) {
      try {
        const settled = housekeeping.settled(cut);
        await traces.close(cut);
        await settled;
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
    transaction: (work) => storeTransaction(database, (_, transaction) => work(transaction)),
    listen: (channel, onMessage) =>
      wake === 'poll' ? () => undefined : database.listen(channel, () => onMessage()),
  };
}
