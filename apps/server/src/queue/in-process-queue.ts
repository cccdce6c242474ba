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
  UnfinishedTurn,
} from '@orion/contracts';

export type InProcessQueueOptions = {
  readonly turns: Pick<ServedTurns, 'reclaim' | 'waiting'>;
  readonly clock: Clock;
  readonly perProject: RunningLimits;
  /** Told of what a handler threw, and of a store that does not answer. Must not throw. */
  readonly onError: (error: unknown) => void;
};

/** Pauses before the store is asked again. */
const LOAD_PAUSES_MS: readonly number[] = [100, 500, 1_000, 5_000];
/** Before each further look for a turn whose commit was not answered; together longer than a statement may take. */
const UNKNOWN_PAUSES_MS: readonly number[] = [500, 2_000, 10_000, 30_000];
/** And before a turn is tried again that was neither completed nor given back. */
const RETRY_MS = 1_000;

/** And before a process that may take no turn now looks again whether it may. */
const LOOK_AGAIN_MS = 250;

type Waiting = {
  readonly attempt: number;
  readonly place: QueuePlace;
  readonly since: number;
  readonly isAlone?: boolean;
};
type Held = {
  readonly attempt: number;
  readonly place: QueuePlace;
  readonly lost: AbortController;
  end: 'completed' | 'given back' | 'to run alone' | null;
};
/** What this process has to do. */
type Load = {
  /** Without those that rest. */
  readonly running: number;
  /** No turn may be handed out. */
  readonly isFull: boolean;
  /** Also without a turn that ends. */
  readonly mayPass: boolean;
};

/**
 * The queue of the one process that serves a store.
 *
 * 1. What waits is in the store. Memory has only the order of it, and is made anew from there at the start and whenever
 *    nobody knows whether a turn was stored.
 * 2. Nothing is handed out before what an earlier process left behind was read.
 * 3. A turn has at most one attempt at a time, and each has a higher number than the one before.
 * 4. A turn that is to run alone is handed out when nothing runs, and nothing beside it. What comes behind it waits, so
 *    that its time comes. Turns that rest do not count as running.
 * 5. Interactive turns come before others, and of either those that came first; a turn whose project runs as many as it
 *    may is left out.
 * 6. Nothing polls: a slot that becomes free and a turn that comes are what hands out the next one. Only an overloaded
 *    process looks again, and one with turns that rest, while turns wait.
 */
export class InProcessQueue implements TurnQueue {
  readonly #options: InProcessQueueOptions;
  /** In the order in which they are handed out. */
  #waiting = new Map<string, Waiting>();
  readonly #held = new Map<string, Held>();
  /** How many of those each project has. */
  readonly #running = new Map<string, number>();
  readonly #retries = new Map<string, () => void>();
  readonly #stop = new AbortController();
  readonly #drained = Promise.withResolvers<void>();
  #handler: TurnHandler | null = null;
  #limits: QueueLimits = { slots: 0 };
  /** The turn that runs alone. */
  #alone: string | null = null;
  #isLoaded = false;
  #cancelLook: (() => void) | null = null;

  constructor(options: InProcessQueueOptions) {
    this.#options = options;
  }

  submit(turnId: string, transaction: StoreTransaction, place: QueuePlace): Promise<void> {
    transaction.onEnd((outcome) => {
      if (outcome === 'committed') this.#add(turnId, 1, place);
      else if (outcome === 'unknown') void this.#lookFor(turnId);
    });
    return Promise.resolve();
  }

  work(handler: TurnHandler, limits: QueueLimits): void {
    this.#handler = handler;
    this.#limits = limits;
    void this.#load({ isFirst: true });
  }

  lookAgain(): void {
    this.#handOut();
  }

  giveBack(
    attempt: TurnAttempt,
    { isAlone = false }: { readonly isAlone?: boolean } = {},
  ): Promise<void> {
    this.#end(attempt, isAlone ? 'to run alone' : 'given back');
    return Promise.resolve();
  }

  withdraw(turnId: string, transaction: StoreTransaction): Promise<void> {
    transaction.onEnd((outcome) => {
      // Otherwise the next attempt finds that the turn is over.
      if (outcome === 'committed') this.#forget(turnId);
    });
    return Promise.resolve();
  }

  complete(attempt: TurnAttempt, transaction: StoreTransaction | null): Promise<boolean> {
    if (this.#held.get(attempt.turnId)?.attempt !== attempt.attempt) return Promise.resolve(false);
    if (transaction === null) this.#end(attempt, 'completed');
    transaction?.onEnd((outcome) => {
      if (outcome === 'committed') this.#end(attempt, 'completed');
    });
    return Promise.resolve(true);
  }

  drain(): Promise<void> {
    this.#stop.abort();
    for (const cancel of this.#retries.values()) cancel();
    this.#retries.clear();
    this.#cancelLook?.();
    this.#cancelLook = null;
    this.#endDrain();
    return this.#drained.promise;
  }

  waiting(): { readonly turns: number; readonly oldestMs: number } {
    const now = this.#options.clock.monotonic();
    const [first] = this.#waiting.values();
    return { turns: this.#waiting.size, oldestMs: first === undefined ? 0 : now - first.since };
  }

  /** A commit that was not answered may still come: that the turn is not there yet says nothing. Never rejects. */
  async #lookFor(turnId: string): Promise<void> {
    await this.#load({ isFirst: false });
    for (const pause of UNKNOWN_PAUSES_MS) {
      if (this.#isKnown(turnId)) return;
      await sleep(this.#options.clock, pause, this.#stop.signal);
      await this.#load({ isFirst: false });
    }
  }

  #isKnown(turnId: string): boolean {
    return this.#held.has(turnId) || this.#waiting.has(turnId) || this.#retries.has(turnId);
  }

  /** Reads what waits. Never rejects. */
  async #load({ isFirst }: { readonly isFirst: boolean }): Promise<void> {
    const { turns, clock, onError } = this.#options;
    for (let failures = 0; !this.#stop.signal.aborted; failures += 1) {
      try {
        if (isFirst) await turns.reclaim();
        const found = await turns.waiting();
        this.#takeOver(found);
        this.#isLoaded ||= isFirst;
        this.#handOut();
        return;
      } catch (error) {
        onError(error);
        const last = LOAD_PAUSES_MS.length - 1;
        await sleep(clock, LOAD_PAUSES_MS[Math.min(failures, last)] ?? 0, this.#stop.signal);
      }
    }
  }

  /** What the store has comes in its order, and before what was submitted meanwhile. */
  #takeOver(found: readonly UnfinishedTurn[]): void {
    const since = this.#options.clock.monotonic();
    const isNew = ({ turnId }: UnfinishedTurn): boolean =>
      !this.#held.has(turnId) && !this.#retries.has(turnId);
    this.#waiting = new Map([
      ...found
        .filter(isNew)
        .map(({ turnId, attempt, ...place }): [string, Waiting] => [
          turnId,
          this.#waiting.get(turnId) ?? { attempt: attempt + 1, place, since },
        ]),
      ...this.#waiting,
    ]);
  }

  #add(turnId: string, attempt: number, place: QueuePlace, isAlone = false): void {
    if (this.#held.has(turnId) || this.#waiting.has(turnId)) return;
    this.#waiting.set(turnId, { attempt, place, since: this.#options.clock.monotonic(), isAlone });
    this.#handOut();
  }

  #forget(turnId: string): void {
    this.#waiting.delete(turnId);
    this.#retries.get(turnId)?.();
    this.#retries.delete(turnId);
  }

  #end({ turnId, attempt }: TurnAttempt, end: NonNullable<Held['end']>): void {
    const held = this.#held.get(turnId);
    if (held?.attempt === attempt) held.end ??= end;
  }

  #handOut(): void {
    const handler = this.#handler;
    if (handler === null || !this.#isLoaded || this.#stop.signal.aborted) return;
    let load: Load | null = null;
    for (const [turnId, waiting] of this.#inOrder()) {
      const { attempt, isAlone = false, place } = waiting;
      if (!isAlone && !this.#hasRoom(place.projectId)) continue;
      load ??= this.#look();
      if (load.isFull || (isAlone && load.running > 0)) {
        if (!load.mayPass) return;
        this.#cancelLook ??= this.#options.clock.schedule(LOOK_AGAIN_MS, () => {
          this.#cancelLook = null;
          this.#handOut();
        });
        return;
      }
      this.#waiting.delete(turnId);
      void this.#attempt(handler, { turnId, attempt, ...(isAlone ? { isAlone } : {}) }, place);
      load = null;
    }
  }

  /** Takes longer the more turns run, so it is done once for all that wait, and anew when one was handed out. */
  #look(): Load {
    const { slots, resting, isOverloaded = () => false } = this.#limits;
    const resters = resting?.();
    const running = this.#held.size - (resters?.size ?? 0);
    const isAloneHere = this.#alone !== null && resters?.has(this.#alone) !== true;
    const hasNoSlot = running >= slots || isAloneHere;
    const isOverloadedNow = !hasNoSlot && isOverloaded(running);
    return {
      running,
      isFull: hasNoSlot || isOverloadedNow,
      mayPass: resters !== undefined || isOverloadedNow,
    };
  }

  *#inOrder(): Generator<[string, Waiting], void> {
    const isLater = ({ isAlone = false, place }: Waiting): boolean =>
      place.priority === 'batch' && !isAlone;
    for (const one of this.#waiting) if (!isLater(one[1])) yield one;
    for (const one of this.#waiting) if (isLater(one[1])) yield one;
  }

  #hasRoom(projectId: string): boolean {
    const { others, projects } = this.#options.perProject;
    return (this.#running.get(projectId) ?? 0) < (projects.get(projectId) ?? others);
  }

  #count(projectId: string, change: 1 | -1): void {
    const running = (this.#running.get(projectId) ?? 0) + change;
    if (running === 0) this.#running.delete(projectId);
    else this.#running.set(projectId, running);
  }

  /** Never rejects. */
  async #attempt(handler: TurnHandler, attempt: TurnAttempt, place: QueuePlace): Promise<void> {
    const { attempt: number, isAlone = false } = attempt;
    const held: Held = { attempt: number, place, lost: new AbortController(), end: null };
    this.#held.set(attempt.turnId, held);
    this.#count(place.projectId, 1);
    if (isAlone) this.#alone = attempt.turnId;
    try {
      await handler(attempt, held.lost.signal);
    } catch (error) {
      this.#options.onError(error);
    }
    this.#held.delete(attempt.turnId);
    this.#count(place.projectId, -1);
    if (this.#alone === attempt.turnId) this.#alone = null;
    if (held.end === 'given back') this.#add(attempt.turnId, number + 1, place);
    else if (held.end === 'to run alone') this.#add(attempt.turnId, number + 1, place, true);
    else if (held.end === null) this.#retryLater(attempt, place);
    this.#handOut();
    this.#endDrain();
  }

  #retryLater({ turnId, attempt }: TurnAttempt, place: QueuePlace): void {
    if (this.#stop.signal.aborted) return;
    const cancel = this.#options.clock.schedule(RETRY_MS, () => {
      this.#retries.delete(turnId);
      this.#add(turnId, attempt + 1, place);
    });
    this.#retries.set(turnId, cancel);
  }

  #endDrain(): void {
    if (this.#stop.signal.aborted && this.#held.size === 0) this.#drained.resolve();
  }
}
