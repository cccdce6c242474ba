import { OrionError, sleep } from '@orion/contracts';
import type {
  Clock,
  QueuePlace,
  RunningLimits,
  StoreTransaction,
  TurnPriority,
  UnfinishedTurn,
} from '@orion/contracts';
import type { Store } from '@orion/agent';
import type { CommandResponse, Db, PgBoss } from 'pg-boss';

export type EngineDatabase = NonNullable<Store['engineDatabase']>;

/** Named by the format of what a job holds: a new format gets a queue of its own, beside which this one runs empty. */
export const TURNS = 'turn.v1';
export const ALONE = 'turn.alone.v1';
export type QueueName = typeof TURNS | typeof ALONE;
/** A queue of the policy `singleton` has one job at a time handed out, in all processes together. */
const QUEUES = [
  [TURNS, 'standard'],
  [ALONE, 'singleton'],
] as const;
/**
 * With the engine's own values turns would be lost: those of a process that died (no heartbeat), those that take a
 * quarter of an hour (expiry) and those that were handed over three times (retries). How often a turn is tried is decided
 * by its row; the engine never gives one up.
 */
const SETTINGS = {
  heartbeatSeconds: 10,
  retryLimit: 2 ** 31 - 1,
  retryDelay: 0,
  expireInSeconds: 86_400,
  retentionSeconds: 365 * 86_400,
} as const;
/** The engine counts in 32 bits. */
const MOST_RUNNING = 2 ** 31 - 1;
const STARTS = 3;
/** The pause before another start. */
const AGAIN_MS = 500;
const ADDED_AT_ONCE = 500;
const UNIQUE_VIOLATION = '23505';

type JobData = {
  /** The last attempt that acquired the turn before there was this job. */
  readonly attemptsBefore: number;
};

/** A job that was handed out. */
export type Job = {
  readonly queue: QueueName;
  /** That of its turn. */
  readonly id: string;
  /** As the engine counts: from 0, and only what it has handed out itself. */
  readonly retryCount: number;
};

export type HeldJob = {
  readonly job: Job;
  /** By the clock of the database, to be compared; null if it never was. */
  readonly confirmedAt: number | null;
};

/** The higher one comes first. That of interactive turns is the engine's own. */
const PRIORITIES: Readonly<Record<TurnPriority, number>> = { interactive: 0, batch: -1 };

export type PgBossJobsOptions = {
  readonly database: Pick<EngineDatabase, 'executeSql' | 'transaction'>;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
};

/** What the queue asks of the engine. */
export type TurnJobs = { readonly [Call in keyof PgBossJobs]: PgBossJobs[Call] };

/** The jobs of turns, one a turn with the id of the turn, as the engine keeps them. */
export class PgBossJobs {
  readonly #engine: PgBoss;
  readonly #database: PgBossJobsOptions['database'];

  private constructor(engine: PgBoss, database: PgBossJobsOptions['database']) {
    this.#engine = engine;
    this.#database = database;
  }

  /** Makes the tables of the engine, or brings them up to date. Rejects with STORE_UNAVAILABLE. */
  static async open(options: PgBossJobsOptions): Promise<PgBossJobs> {
    for (let starts = 1; ; starts += 1) {
      try {
        return new PgBossJobs(await startEngine(options), options.database);
      } catch (error) {
        // Of several processes that make the tables at once, one succeeds; the engine does not expect each refusal.
        if (starts === STARTS) throw error;
        await sleep(options.clock, AGAIN_MS);
      }
    }
  }

  async close(): Promise<void> {
    await this.#engine.stop({ graceful: false, close: false });
  }

  async add(turnId: string, place: QueuePlace, transaction: StoreTransaction): Promise<void> {
    const options = { id: turnId, ...placeOf(place), db: inside(transaction) };
    await this.#engine.send(TURNS, { attemptsBefore: 0 } satisfies JobData, options);
  }

  /** For those of the turns that have none. */
  async addMissing(turns: readonly UnfinishedTurn[]): Promise<void> {
    const elsewhere = await this.#inOtherQueues();
    const jobs = turns
      .filter(({ turnId }) => !elsewhere.has(turnId))
      .map(({ turnId, attempt, ...place }) => ({
        id: turnId,
        data: { attemptsBefore: attempt } satisfies JobData,
        ...placeOf(place),
      }));
    for (let start = 0; start < jobs.length; start += ADDED_AT_ONCE)
      await this.#engine.insert(TURNS, jobs.slice(start, start + ADDED_AT_ONCE));
    // What another process has moved there between the two statements.
    const moved = await this.#inOtherQueues();
    for (const { id } of jobs) if (moved.has(id)) await this.#engine.deleteJob(TURNS, id);
  }

  /** Those that run alone, and those of a format that only a newer version knows. */
  async #inOtherQueues(): Promise<ReadonlySet<string>> {
    const turns = new Set<string>();
    for (const { name } of await this.#engine.getQueues()) {
      if (name === TURNS) continue;
      for (const { id } of await this.#engine.findJobs(name)) turns.add(id);
    }
    return turns;
  }

  /**
   * In the order in which they come, with the number of the attempt that each is handed out for. Of several jobs at
   * once the engine would choose by their ids which ones of a project are within its limit, so where there are limits it
   * is asked for one.
   */
  async take(
    queue: QueueName,
    { atMost, perProject }: { readonly atMost: number; readonly perProject: RunningLimits },
  ): Promise<readonly { readonly job: Job; readonly attempt: number }[]> {
    const groupConcurrency = groupConcurrencyOf(perProject);
    const fetching = this.#engine.fetch<JobData>(queue, {
      batchSize: groupConcurrency === null ? atMost : 1,
      includeMetadata: true,
      ...(groupConcurrency === null ? {} : { groupConcurrency }),
    });
    const jobs = await fetching.catch((error: unknown) => {
      // The one job of ALONE is handed out: the engine would see that by the code of its own driver.
      if (OrionError.isInstance(error) && error.details['reason'] === UNIQUE_VIOLATION) return [];
      throw error;
    });
    return jobs
      .toSorted(
        (one, other) =>
          other.priority - one.priority || one.createdOn.getTime() - other.createdOn.getTime(),
      )
      .map(({ id, retryCount, data }) => ({
        job: { queue, id, retryCount },
        attempt: data.attemptsBefore + retryCount + 1,
      }));
  }

  /** Answers with those that still are as they were handed out. */
  async confirm(jobs: readonly Job[]): Promise<ReadonlySet<string>> {
    const confirmed = new Set<string>();
    for (const [queue] of QUEUES) {
      const own = jobs.filter((job) => job.queue === queue);
      if (own.length === 0) continue;
      for (const id of settledBy(await this.#engine.touch(queue, own)).settled) confirmed.add(id);
    }
    return confirmed;
  }

  /** They are handed out again, to anybody. */
  async giveBack(jobs: readonly Job[]): Promise<void> {
    for (const [queue] of QUEUES) {
      const own = jobs.filter((job) => job.queue === queue);
      if (own.length > 0) await this.#engine.fail(queue, own);
    }
  }

  /** All that were handed out, to whomever, with when each was confirmed last. */
  async held(): Promise<ReadonlyMap<string, HeldJob>> {
    const held = new Map<string, HeldJob>();
    for (const [queue] of QUEUES) {
      for (const { id, retryCount, state, heartbeatOn } of await this.#engine.findJobs(queue)) {
        if (state !== 'active') continue;
        held.set(id, {
          job: { queue, id, retryCount },
          confirmedAt: heartbeatOn?.getTime() ?? null,
        });
      }
    }
    return held;
  }

  /**
   * To the turns that run alone, or among those that do not, which needs a place. Not if it was handed out to another: of
   * two jobs of one turn each would take it from the other. `attempt` is the one that it was handed out for.
   */
  async move(job: Job, attempt: number, to: QueuePlace | typeof ALONE): Promise<void> {
    await this.#database.transaction(async (transaction) => {
      if (!(await this.complete(job, transaction))) return;
      const [queue, place] = to === ALONE ? [ALONE, {}] : [TURNS, placeOf(to)];
      const data = { attemptsBefore: attempt } satisfies JobData;
      await this.#engine.send(queue, data, { id: job.id, ...place, db: inside(transaction) });
    });
  }

  /** Deleted, not kept as completed: the row of the turn says how it ended. False if it was handed out to another. */
  async complete(job: Job, transaction: StoreTransaction | null): Promise<boolean> {
    const options = transaction === null ? {} : { db: inside(transaction) };
    const deleted = await this.#engine.deleteJob(job.queue, job, options);
    return settledBy(deleted).affected > 0;
  }

  /** Whoever has it. */
  async remove(turnId: string, transaction: StoreTransaction): Promise<void> {
    const db = inside(transaction);
    for (const [queue] of QUEUES) await this.#engine.deleteJob(queue, turnId, { db });
  }
}

async function startEngine({ database, onError }: PgBossJobsOptions): Promise<PgBoss> {
  const { PgBoss: Engine } = await import('pg-boss');
  const db = driverOf((text, values) => database.executeSql(text, values));
  const engine = new Engine({
    db,
    ...(await schemaOf(db)),
    // Both: the longer one decides how late a dead process is noticed.
    superviseIntervalSeconds: 1,
    monitorIntervalSeconds: 1,
    // Whether the one job of ALONE is handed out is looked up there.
    queueCacheIntervalSeconds: 1,
    schedule: false,
  });
  engine.on('error', (error: unknown) => onError(thrownBy(error)));
  try {
    await engine.start();
    for (const [name, policy] of QUEUES) {
      await engine.createQueue(name, { ...SETTINGS, policy });
      await engine.updateQueue(name, SETTINGS);
    }
    return engine;
  } catch (error) {
    await engine.stop({ graceful: false, close: false });
    throw error;
  }
}

/** The engine limits a project by the tier that its jobs name: each project has its own. */
function placeOf({ projectId, priority = 'interactive' }: QueuePlace) {
  return { group: { id: projectId, tier: projectId }, priority: PRIORITIES[priority] };
}

/** Null: any project may run any number, about which the engine need not look. */
function groupConcurrencyOf({ others, projects }: RunningLimits) {
  if ([others, ...projects.values()].every((limit) => limit === Infinity)) return null;
  const atMost = (limit: number): number => Math.min(limit, MOST_RUNNING);
  return {
    default: atMost(others),
    tiers: Object.fromEntries([...projects].map(([name, limit]) => [name, atMost(limit)])),
  };
}

/** What the engine answers; its types leave it out. */
type Settled = { readonly affected: number; readonly settled: readonly string[] };

function settledBy(response: CommandResponse): Settled {
  return response as Settled;
}

/** The engine reads rows; whatever else a driver answers is its own. */
function driverOf(execute: (text: string, values?: readonly unknown[]) => Promise<unknown>): Db {
  return {
    executeSql: async (text, values) => (await execute(text, values)) as { rows: unknown[] },
  };
}

/** The engine tells of some errors by plain copies, which have lost what kind of error they are. */
function thrownBy(error: unknown): unknown {
  if (error instanceof Error || error === null || typeof error !== 'object') return error;
  if (!('code' in error && error.code === 'STORE_UNAVAILABLE' && 'message' in error)) return error;
  return new OrionError({ code: error.code, message: String(error.message), retryable: true });
}

function inside(transaction: StoreTransaction): Db {
  type Values = Parameters<StoreTransaction['all']>[1];
  // The engine passes arrays as well, which Postgres takes.
  return driverOf(async (text, values) => ({
    rows: await transaction.all(text, values as Values),
  }));
}

/** Beside the tables of the store: two stores in one database have an engine each. */
async function schemaOf(db: Db): Promise<{ schema: string; createSchema: boolean }> {
  const { rows } = await db.executeSql(
    `select name, exists (select 1 from pg_namespace where nspname = name) as there
     from (select coalesce(nullif(current_schema(), 'public'), 'orion') || '_queue' as name) as own`,
  );
  const [{ name, there }] = rows as [{ readonly name: string; readonly there: boolean }];
  // An administrator may have made it for a user that may not.
  return { schema: `"${name}"`, createSchema: !there };
}
