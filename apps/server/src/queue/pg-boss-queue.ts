import { sleep } from '@orion/contracts';
import type {
  Clock,
  QueueLimits,
  QueuePlace,
  RunningLimits,
  ServedTurns,
  StoreTransaction,
  TurnAttempt,
  TurnHandler,
  TurnQueue,
} from '@orion/contracts';

import { ALONE, PgBossJobs, TURNS } from './pg-boss-jobs.ts';
import type { EngineDatabase, Job, QueueName, TurnJobs } from './pg-boss-jobs.ts';

export type PgBossQueueOptions = {
  readonly database: Pick<EngineDatabase, 'executeSql' | 'listen'>;
  readonly turns: Pick<ServedTurns, 'count' | 'unfinished'>;
  readonly clock: Clock;
  /** Nobody else seems to run these turns now: what is handed out was probably left behind by a process that died. */
  readonly isOnly: boolean;
  readonly perProject: RunningLimits;
  /** Told of what a handler threw, and of a store that does not answer. Must not throw. */
  readonly onError: (error: unknown) => void;
};

const CHANNEL = 'orion_queue';
const NOTIFY = `select pg_notify('${CHANNEL}', '')`;
/** How often the store is asked for turns without being told of any. */
const POLL_MS = 250;
/** Turns that are taken at once: in between others take theirs, and the process looks whether it is overloaded. */
const BATCH = 4;
/** How often the attempts that are held are confirmed. */
const TOUCH_MS = 3_000;
/** In which a process that lives has confirmed what it holds. */
const LEFT_MS = TOUCH_MS + 1_000;
/** How often the turns that wait are counted. */
const COUNT_MS = 1_000;
/** How often turns without a job are looked for, and how long nothing was stored of them. */
const ADOPT_MS = 60_000;
/** Given so that none is made, which takes as long as a statement. */
const WOKEN = 'woken';
/** The pause after a failure of the store. */
const AGAIN_MS = 500;
/** And before a turn is tried again that was neither completed nor given back. */
const RETRY_MS = 1_000;

type Held = {
  readonly attempt: TurnAttempt;
  readonly job: Job;
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
 * 4. What is held is confirmed until it was completed or given back, also while the queue drains: if the engine does not
 *    hear of that, because this process dies, its silence counts from then. An attempt that the engine does not confirm is
 *    lost: its signal is aborted.
 * 5. A turn that is to run alone waits in a queue of its own. Who takes it takes nothing else until it has run; only one
 *    process at a time does.
 */
export class PgBossQueue implements TurnQueue {
  readonly #options: PgBossQueueOptions;
  readonly #jobs: TurnJobs;
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
  /** Others are being told of turns that came. */
  #telling: Promise<void> | null = null;
  /** And more have come meanwhile. */
  #hasNews = false;
  /** Of attempts that ended and are to be followed by others. */
  readonly #left: Job[] = [];
  #leaving: Promise<void> = Promise.resolve();
  #drained: Promise<void> | null = null;
  /** Nothing further is taken. */
  #isClosed = false;
  #waiting = { turns: 0, oldestMs: 0 };

  private constructor(options: PgBossQueueOptions, jobs: TurnJobs) {
    this.#options = options;
    this.#jobs = jobs;
  }

  /** Makes the tables of the engine, or brings them up to date. Rejects with STORE_UNAVAILABLE. */
  static async open(
    options: PgBossQueueOptions & { readonly database: EngineDatabase },
  ): Promise<PgBossQueue> {
    return PgBossQueue.over(await PgBossJobs.open(options), options);
  }

  /** The same on jobs that something else than the engine keeps. */
  static over(jobs: TurnJobs, options: PgBossQueueOptions): PgBossQueue {
    return new PgBossQueue(options, jobs);
  }

  async submit(turnId: string, transaction: StoreTransaction, place: QueuePlace): Promise<void> {
    await this.#jobs.add(turnId, place, transaction);
    transaction.onEnd((outcome) => {
      if (outcome === 'undone') return;
      this.#waiting = { ...this.#waiting, turns: this.#waiting.turns + 1 };
      this.#wake.abort(WOKEN);
      if (this.#isFree()) return;
      this.#hasNews = true;
      this.#telling ??= this.#tellOfTurns();
    });
  }

  work(handler: TurnHandler, limits: QueueLimits): void {
    this.#handler = handler;
    this.#limits = limits;
    const stopListening = this.#options.database.listen(CHANNEL, () => this.#wake.abort(WOKEN));
    this.#stop.signal.addEventListener('abort', stopListening, { once: true });
    const forever = this.#stop.signal;
    let isFirst = true;
    // Nothing is taken before: a turn that ended between the two statements of the look would get a job once more.
    const firstLook = Promise.withResolvers<void>();
    this.#looking = Promise.all([
      // If it fails, they are handed out once they were silent for long enough.
      this.#options.isOnly && this.#orReport(() => this.#takeFromDead()),
      this.#repeat(forever, COUNT_MS, () => this.#count()),
      this.#repeat(forever, ADOPT_MS, async () => {
        try {
          await this.#adopt(isFirst ? 0 : ADOPT_MS);
          isFirst = false;
        } finally {
          firstLook.resolve();
        }
      }),
      this.#repeat(forever, POLL_MS, async (wake) => {
        this.#wake = wake;
        await firstLook.promise;
        await this.#take();
      }),
    ]);
    this.#confirming = this.#repeat(this.#over.signal, TOUCH_MS, () => this.#confirm());
  }

  lookAgain(): void {
    this.#wake.abort(WOKEN);
  }

  giveBack(
    attempt: TurnAttempt,
    { isAlone = false }: { readonly isAlone?: boolean } = {},
  ): Promise<void> {
    const held = this.#of(attempt);
    if (held !== undefined) held.end ??= isAlone ? 'to run alone' : 'given back';
    return Promise.resolve();
  }

  withdraw(turnId: string, transaction: StoreTransaction): Promise<void> {
    return this.#jobs.remove(turnId, transaction);
  }

  async complete(attempt: TurnAttempt, transaction: StoreTransaction | null): Promise<boolean> {
    const held = this.#of(attempt);
    if (held === undefined) return false;
    if (held.end === 'completed') return true;
    if (!(await this.#jobs.complete(held.job, transaction))) return false;
    if (transaction === null) held.end ??= 'completed';
    transaction?.onEnd((outcome) => {
      if (outcome === 'committed') held.end ??= 'completed';
    });
    return true;
  }

  drain(): Promise<void> {
    return (this.#drained ??= this.#drain());
  }

  /**
   * What a process has left behind that died does not have to wait until the engine thinks so. But right after an outage
   * of the store there may be others that have not taken their right to serve again: theirs are confirmed meanwhile.
   */
  async #takeFromDead(): Promise<void> {
    const before = await this.#jobs.held();
    if (before.size === 0) return;
    await sleep(this.#options.clock, LEFT_MS, this.#stop.signal);
    if (this.#stop.signal.aborted) return;
    const left: Job[] = [];
    for (const [id, { job, confirmedAt }] of await this.#jobs.held()) {
      const earlier = before.get(id);
      if (earlier?.job.retryCount === job.retryCount && earlier.confirmedAt === confirmedAt)
        left.push(job);
    }
    if (left.length > 0) await this.#jobs.giveBack(left);
  }

  async #drain(): Promise<void> {
    this.#stop.abort();
    await this.#looking;
    await this.#telling;
    this.#isClosed = true;
    this.#endIfIdle();
    await this.#confirming;
    await this.#orReport(() => this.#jobs.close());
  }

  waiting(): { readonly turns: number; readonly oldestMs: number } {
    return this.#waiting;
  }

  #of({ turnId, attempt }: TurnAttempt): Held | undefined {
    const held = this.#held.get(turnId);
    return held?.attempt.attempt === attempt ? held : undefined;
  }

  /** Never rejects. A process without room has enough to do: one statement at a time is about all turns before it. */
  async #tellOfTurns(): Promise<void> {
    while (this.#hasNews) {
      this.#hasNews = false;
      await this.#orReport(() => this.#tell());
    }
    this.#telling = null;
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
      // Fewer than there is room for say nothing: where projects have limits, they come one by one.
      if (taken.length === 0) return;
    }
  }

  async #takeAlone(): Promise<void> {
    const [held] = await this.#fetch(ALONE, 1);
    if (held === undefined) return;
    this.#alone = held;
    void this.#attempt(held);
  }

  async #fetch(queue: QueueName, atMost: number): Promise<readonly Held[]> {
    const { perProject } = this.#options;
    const taken = await this.#jobs.take(queue, { atMost, perProject });
    return taken.map(({ job, attempt }) => ({
      attempt: { turnId: job.id, attempt, ...(queue === ALONE ? { isAlone: true } : {}) },
      job,
      lost: new AbortController(),
      ended: Promise.withResolvers<void>(),
      end: null,
    }));
  }

  /** Never rejects. */
  async #attempt(held: Held): Promise<void> {
    const { turnId } = held.attempt;
    // An earlier attempt was lost, and has not saved yet.
    const earlier = this.#held.get(turnId);
    earlier?.lost.abort();
    this.#held.set(turnId, held);
    this.#running += 1;
    await earlier?.ended.promise;
    if (held === this.#alone) await this.#untilAlone(held);
    if (this.#stop.signal.aborted || held.lost.signal.aborted) held.end = 'given back';
    else await this.#orReport(async () => this.#handler?.(held.attempt, held.lost.signal));
    this.#running -= 1;
    if (this.#alone === held) this.#alone = null;
    held.ended.resolve();
    this.#wake.abort(WOKEN);
    if (held.end === null)
      await sleep(this.#options.clock, RETRY_MS, this.#stop.signal, held.lost.signal);
    await this.#orReport(() => this.#release(held));
    if (this.#held.get(turnId) === held) this.#held.delete(turnId);
    this.#endIfIdle();
  }

  /** Waits for those that run beside it, but for none that rests, also if it began to rest only now. */
  async #untilAlone(alone: Held): Promise<void> {
    const until = AbortSignal.any([this.#stop.signal, alone.lost.signal]);
    const ended = new Set([alone]);
    const watched = new Set<Held>();
    let someEnded = new AbortController();
    const watch = async (other: Held): Promise<void> => {
      watched.add(other);
      await other.ended.promise;
      ended.add(other);
      someEnded.abort(WOKEN);
    };
    while (!until.aborted) {
      someEnded = new AbortController();
      const resting = this.#resting();
      const others = [...this.#held.values()].filter(
        (other) => !ended.has(other) && !resting.has(other.attempt.turnId),
      );
      if (others.length === 0) return;
      for (const other of others) if (!watched.has(other)) void watch(other);
      await sleep(this.#options.clock, POLL_MS, until, someEnded.signal);
    }
  }

  /** Lets the next attempt follow, unless there is none. If that fails, it follows when this one is not confirmed. */
  async #release(held: Held): Promise<void> {
    const { end, job, attempt } = held;
    if (end === 'completed') return;
    const to = await this.#moveOf(held);
    if (to !== null) {
      await this.#jobs.move(job, attempt.attempt, to);
      await this.#tell();
      return;
    }
    this.#left.push(job);
    this.#leaving = this.#leaving.catch(() => undefined).then(() => this.#giveBackLeft());
    await this.#leaving;
  }

  /** Where the job goes before it is handed out again; null if it stays. */
  async #moveOf({ end, job, attempt }: Held): Promise<QueuePlace | typeof ALONE | null> {
    if (end === 'to run alone') return job.queue === ALONE ? null : ALONE;
    if (end !== 'given back' || job.queue !== ALONE || this.#stop.signal.aborted) return null;
    const turns = await this.#options.turns.unfinished({ idleMs: 0 });
    return turns.find(({ turnId }) => turnId === attempt.turnId) ?? null;
  }

  /** A process that stops ends many attempts at once: those that end while statements are under way share the next. */
  async #giveBackLeft(): Promise<void> {
    const jobs = this.#left.splice(0);
    if (jobs.length === 0) return;
    await this.#jobs.giveBack(jobs);
    await this.#tell();
  }

  async #tell(): Promise<void> {
    await this.#options.database.executeSql(NOTIFY);
    this.#wake.abort(WOKEN);
  }

  async #confirm(): Promise<void> {
    const held = [...this.#held.values()].filter(
      ({ end, lost }) => end === null && !lost.signal.aborted,
    );
    if (held.length === 0) return;
    const confirmed = await this.#jobs.confirm(held.map(({ job }) => job));
    for (const { job, end, lost } of held) if (!confirmed.has(job.id) && end === null) lost.abort();
  }

  async #count(): Promise<void> {
    const { queued, oldestQueuedMs } = await this.#options.turns.count({});
    this.#waiting = { turns: queued, oldestMs: oldestQueuedMs };
  }

  /** Makes jobs of turns that have none. */
  async #adopt(idleMs: number): Promise<void> {
    const turns = await this.#options.turns.unfinished({ idleMs });
    if (turns.length === 0) return;
    await this.#jobs.addMissing(turns);
    this.#wake.abort(WOKEN);
  }

  #endIfIdle(): void {
    if (this.#isClosed && this.#held.size === 0) this.#over.abort();
  }
}
