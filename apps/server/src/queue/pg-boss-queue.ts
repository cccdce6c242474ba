import { sleep } from '@orion/contracts';
import type {
  Clock,
  QueueLimits,
  QueuePlace,
  ServedTurns,
  StoreTransaction,
  TurnAttempt,
  TurnHandler,
  TurnQueue,
} from '@orion/contracts';
import type { Store } from '@orion/agent';
import type { CommandResponse, Db, PgBoss } from 'pg-boss';

type EngineDatabase = NonNullable<Store['engineDatabase']>;

export type PgBossQueueOptions = {
  readonly database: EngineDatabase;
  readonly turns: Pick<ServedTurns, 'count' | 'unfinished'>;
  readonly clock: Clock;
  /** How many turns of one project run at the same time, in all processes together. */
  readonly perProject: number;
  /** Told of what a handler threw, and of a store that does not answer. Must not throw. */
  readonly onError: (error: unknown) => void;
};

/** Named by the format of what a job holds: a new format gets a queue of its own, beside which this one runs empty. */
const TURNS = 'turn.v1';
const ALONE = 'turn.alone.v1';
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

const CHANNEL = 'orion_queue';
const NOTIFY = `select pg_notify('${CHANNEL}', '')`;
/** How often the store is asked for turns without being told of any. */
const POLL_MS = 500;
/** Turns that are taken at once: in between the process looks whether it is overloaded. */
const BATCH = 50;
/** How often the attempts that are held are confirmed. */
const TOUCH_MS = 3_000;
/** How often the turns that wait are counted. */
const COUNT_MS = 1_000;
/** How often turns without a job are looked for, and how long nothing was stored of them. */
const ADOPT_MS = 60_000;
const ADOPTED_AT_ONCE = 500;
const STARTS = 3;
/** The pause after a failure of the store. */
const AGAIN_MS = 500;
/** And before a turn is tried again that was neither completed nor given back. */
const RETRY_MS = 1_000;

type JobData = {
  /** The last attempt that acquired the turn before there was this job. */
  readonly attemptsBefore: number;
};

type Held = {
  readonly attempt: TurnAttempt;
  readonly queue: string;
  /** As the engine counts: from 0, and only what it has handed out itself. */
  readonly job: { readonly id: string; readonly retryCount: number };
  readonly lost: AbortController;
  /** When the handler has ended. */
  readonly ended: PromiseWithResolvers<void>;
  end: 'completed' | 'given back' | 'to run alone' | null;
};

/**
 * The queue of any number of processes on one Postgres, kept by an engine in tables of its own. There is one job a turn,
 * with the id of the turn.
 *
 * 1. The engine decides who tries a turn next. That an attempt which was replaced stores nothing is up to the turn log.
 * 2. A job comes with the transaction that stores its turn, and is deleted once the turn is over. A turn that is not
 *    over and has no job, such as one of another queue, gets one.
 * 3. The number of an attempt is that of the job, counted on from the attempts before the job was made.
 * 4. What is held is confirmed until its handler has ended, also while the queue drains. An attempt that the engine does
 *    not confirm is lost: its signal is aborted.
 * 5. A turn that is to run alone waits in a queue of its own. Who takes it takes nothing else until it has run; only one
 *    process at a time does.
 */
export class PgBossQueue implements TurnQueue {
  readonly #options: PgBossQueueOptions;
  readonly #engine: PgBoss;
  /** By turn: of two attempts the later one. */
  readonly #held = new Map<string, Held>();
  readonly #stop = new AbortController();
  /** Aborted when the queue drains and nothing is held. */
  readonly #over = new AbortController();
  #handler: TurnHandler | null = null;
  #limits: QueueLimits = { slots: 0 };
  /** Handlers that run. A turn that waits to be tried again has no slot. */
  #running = 0;
  /** Begins when everything else has ended. */
  #alone: Held | null = null;
  /** Ends the pause before the next look for turns. */
  #wake = new AbortController();
  #looking: Promise<unknown> = Promise.resolve();
  #confirming: Promise<unknown> = Promise.resolve();
  #drained: Promise<void> | null = null;
  /** Nothing further is taken. */
  #isClosed = false;
  #waiting = { turns: 0, oldestMs: 0 };

  private constructor(options: PgBossQueueOptions, engine: PgBoss) {
    this.#options = options;
    this.#engine = engine;
  }

  /** Makes the tables of the engine, or brings them up to date. Rejects with STORE_UNAVAILABLE. */
  static async open(options: PgBossQueueOptions): Promise<PgBossQueue> {
    for (let starts = 1; ; starts += 1) {
      try {
        return new PgBossQueue(options, await startEngine(options));
      } catch (error) {
        // Of several processes that make the tables at once, one succeeds; the engine does not expect each refusal.
        if (starts === STARTS) throw error;
        await sleep(options.clock, AGAIN_MS);
      }
    }
  }

  async submit(
    turnId: string,
    transaction: StoreTransaction,
    { projectId }: QueuePlace,
  ): Promise<void> {
    const options = { id: turnId, group: { id: projectId }, db: inside(transaction) };
    await this.#engine.send(TURNS, { attemptsBefore: 0 } satisfies JobData, options);
    if (!this.#isFree()) await transaction.all(NOTIFY);
    transaction.onEnd((outcome) => {
      if (outcome === 'undone') return;
      this.#waiting = { ...this.#waiting, turns: this.#waiting.turns + 1 };
      this.#wake.abort();
    });
  }

  work(handler: TurnHandler, limits: QueueLimits): void {
    this.#handler = handler;
    this.#limits = limits;
    const stopListening = this.#options.database.listen(CHANNEL, () => this.#wake.abort());
    this.#stop.signal.addEventListener('abort', stopListening, { once: true });
    const forever = this.#stop.signal;
    let isFirst = true;
    this.#looking = Promise.all([
      this.#repeat(forever, COUNT_MS, () => this.#count()),
      this.#repeat(forever, ADOPT_MS, async () => {
        await this.#adopt(isFirst ? 0 : ADOPT_MS);
        isFirst = false;
      }),
      this.#repeat(forever, POLL_MS, (wake) => {
        this.#wake = wake;
        return this.#take();
      }),
    ]);
    this.#confirming = this.#repeat(this.#over.signal, TOUCH_MS, () => this.#confirm());
  }

  giveBack(
    attempt: TurnAttempt,
    { isAlone = false }: { readonly isAlone?: boolean } = {},
  ): Promise<void> {
    const held = this.#of(attempt);
    if (held !== undefined) held.end ??= isAlone ? 'to run alone' : 'given back';
    return Promise.resolve();
  }

  async withdraw(turnId: string, transaction: StoreTransaction): Promise<void> {
    const db = inside(transaction);
    for (const [queue] of QUEUES) await this.#engine.deleteJob(queue, turnId, { db });
  }

  async complete(attempt: TurnAttempt, transaction: StoreTransaction | null): Promise<boolean> {
    const held = this.#of(attempt);
    if (held === undefined) return false;
    const options = transaction === null ? {} : { db: inside(transaction) };
    // Deleted, not kept as completed: the row of the turn says how it ended.
    const deleted = await this.#engine.deleteJob(held.queue, held.job, options);
    if (settledBy(deleted).affected === 0) return false;
    if (transaction === null) held.end ??= 'completed';
    transaction?.onEnd((outcome) => {
      if (outcome === 'committed') held.end ??= 'completed';
    });
    return true;
  }

  drain(): Promise<void> {
    return (this.#drained ??= this.#drain());
  }

  async #drain(): Promise<void> {
    this.#stop.abort();
    await this.#looking;
    this.#isClosed = true;
    this.#endIfIdle();
    await this.#confirming;
    await this.#engine.stop({ graceful: false, close: false });
  }

  waiting(): { readonly turns: number; readonly oldestMs: number } {
    return this.#waiting;
  }

  #of({ turnId, attempt }: TurnAttempt): Held | undefined {
    const held = this.#held.get(turnId);
    return held?.attempt.attempt === attempt ? held : undefined;
  }

  /** Whether this process would take the next turn at once. */
  #isFree(): boolean {
    const { slots, isOverloaded = () => false } = this.#limits;
    const isStopped = this.#stop.signal.aborted;
    const running = this.#running - this.#resting().size;
    return !isStopped && !this.#isAlone() && running < slots && !isOverloaded(running);
  }

  #resting(): ReadonlySet<string> {
    return this.#limits.resting?.() ?? new Set();
  }

  /** A turn that is to run alone has begun, and does not rest. */
  #isAlone(): boolean {
    return this.#alone !== null && !this.#resting().has(this.#alone.attempt.turnId);
  }

  /** Until the signal is aborted. What `work` throws is reported, and it is tried again soon. Never rejects. */
  async #repeat(
    until: AbortSignal,
    milliseconds: number,
    work: (wake: AbortController) => Promise<void>,
  ): Promise<void> {
    while (!until.aborted) {
      const wake = new AbortController();
      const isDone = await this.#orReport(() => work(wake));
      await sleep(this.#options.clock, isDone ? milliseconds : AGAIN_MS, until, wake.signal);
    }
  }

  async #orReport(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      this.#options.onError(error);
      return false;
    }
  }

  /** Takes as many turns as there is room for. */
  async #take(): Promise<void> {
    if (this.#isFree()) await this.#takeAlone();
    while (this.#isFree()) {
      const running = this.#running - this.#resting().size;
      const room = Math.min(BATCH, this.#limits.slots - running);
      const taken = await this.#fetch(TURNS, room);
      for (const held of taken) void this.#attempt(held);
      if (taken.length < room) return;
    }
  }

  async #takeAlone(): Promise<void> {
    const [held = null] = await this.#fetch(ALONE, 1);
    this.#alone = held;
    if (held !== null) void this.#attempt(held);
  }

  async #fetch(queue: string, batchSize: number): Promise<readonly Held[]> {
    const jobs = await this.#engine.fetch<JobData>(queue, {
      batchSize,
      includeMetadata: true,
      groupConcurrency: this.#options.perProject,
    });
    return jobs
      .toSorted((one, other) => one.createdOn.getTime() - other.createdOn.getTime())
      .map(({ id, retryCount, data }) => ({
        attempt: {
          turnId: id,
          attempt: data.attemptsBefore + retryCount + 1,
          ...(queue === ALONE ? { isAlone: true } : {}),
        },
        queue,
        job: { id, retryCount },
        lost: new AbortController(),
        ended: Promise.withResolvers<void>(),
        end: null,
      }));
  }

  /** Never rejects. */
  async #attempt(held: Held): Promise<void> {
    const { turnId } = held.attempt;
    // An earlier attempt was lost, and has not noticed or not saved yet.
    const resting = this.#resting();
    const before = [...this.#held.values()].filter(
      ({ attempt: other }) =>
        other.turnId === turnId || (held === this.#alone && !resting.has(other.turnId)),
    );
    this.#held.set(turnId, held);
    this.#running += 1;
    await Promise.all(before.map(({ ended }) => ended.promise));
    if (this.#stop.signal.aborted || held.lost.signal.aborted) held.end = 'given back';
    else await this.#orReport(async () => this.#handler?.(held.attempt, held.lost.signal));
    this.#running -= 1;
    if (this.#alone === held) this.#alone = null;
    held.ended.resolve();
    this.#wake.abort();
    if (held.end === null)
      await sleep(this.#options.clock, RETRY_MS, this.#stop.signal, held.lost.signal);
    await this.#orReport(() => this.#release(held));
    if (this.#held.get(turnId) === held) this.#held.delete(turnId);
    this.#endIfIdle();
  }

  /** Lets the next attempt follow, unless there is none. If that fails, it follows when this one is not confirmed. */
  async #release({ end, queue, job, attempt }: Held): Promise<void> {
    if (end === 'completed') return;
    if (end === 'to run alone' && queue === TURNS) {
      // Should the second statement fail, the turn has two jobs for a while: the log knows one owner.
      const attemptsBefore = attempt.attempt;
      await this.#engine.send(ALONE, { attemptsBefore } satisfies JobData, { id: job.id });
      await this.#engine.deleteJob(TURNS, job);
    } else {
      await this.#engine.fail(queue, job);
    }
    await this.#options.database.executeSql(NOTIFY);
    this.#wake.abort();
  }

  async #confirm(): Promise<void> {
    for (const [queue] of QUEUES) {
      const held = [...this.#held.values()].filter(
        (each) => each.queue === queue && each.end !== 'completed' && !each.lost.signal.aborted,
      );
      if (held.length === 0) continue;
      const jobs = held.map(({ job }) => job);
      const confirmed = new Set(settledBy(await this.#engine.touch(queue, jobs)).settled);
      for (const { job, end, lost } of held)
        if (!confirmed.has(job.id) && end === null) lost.abort();
    }
  }

  async #count(): Promise<void> {
    const { queued, oldestQueuedMs } = await this.#options.turns.count({});
    this.#waiting = { turns: queued, oldestMs: oldestQueuedMs };
  }

  /** Makes jobs of turns that have none. */
  async #adopt(idleMs: number): Promise<void> {
    const turns = await this.#options.turns.unfinished({ idleMs });
    if (turns.length === 0) return;
    const alone = new Set((await this.#engine.findJobs(ALONE)).map(({ id }) => id));
    const jobs = turns
      .filter(({ turnId }) => !alone.has(turnId))
      .map(({ turnId, attempt, projectId }) => ({
        id: turnId,
        data: { attemptsBefore: attempt } satisfies JobData,
        group: { id: projectId },
      }));
    for (let start = 0; start < jobs.length; start += ADOPTED_AT_ONCE)
      await this.#engine.insert(TURNS, jobs.slice(start, start + ADOPTED_AT_ONCE));
    this.#wake.abort();
  }

  #endIfIdle(): void {
    if (this.#isClosed && this.#held.size === 0) this.#over.abort();
  }
}

async function startEngine({ database, onError }: PgBossQueueOptions): Promise<PgBoss> {
  const { PgBoss: Engine } = await import('pg-boss');
  const db = driverOf((text, values) => database.executeSql(text, values));
  const engine = new Engine({
    db,
    ...(await schemaOf(db)),
    // Both: the longer one decides how late a dead process is noticed.
    superviseIntervalSeconds: 1,
    monitorIntervalSeconds: 1,
    schedule: false,
  });
  engine.on('error', onError);
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
