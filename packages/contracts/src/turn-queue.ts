/** What became of a transaction. `unknown`: the answer to its commit was lost. */
export type TransactionOutcome = 'committed' | 'undone' | 'unknown';

/** A transaction of the store that is open. A queue that keeps its jobs in the same database takes part in it. */
export interface StoreTransaction {
  /** Runs a statement, with parameters `$1`, `$2` … Resolves to its rows. */
  all(
    sql: string,
    parameters?: readonly (string | number | null)[],
  ): Promise<readonly { readonly [column: string]: string | number | null }[]>;
  /** Called once, when the transaction is over. Must not throw. */
  onEnd(callback: (outcome: TransactionOutcome) => void): void;
}

/**
 * Ends an attempt with the transaction that ends its turn. False: the turn is not this attempt's any more, and the
 * transaction must be rolled back.
 */
export type CompleteAttempt = (transaction: StoreTransaction) => Promise<boolean>;

/**
 * One attempt to run a turn. A later attempt of the same turn has a higher number. `isAlone`: this process runs nothing
 * else beside it, as was asked for.
 */
export type TurnAttempt = {
  readonly turnId: string;
  readonly attempt: number;
  readonly isAlone?: boolean;
};

/** Of two turns that wait, `interactive` comes before `batch`. */
export type TurnPriority = 'interactive' | 'batch';

/** What a queue considers when it chooses the next turn. */
export type QueuePlace = {
  readonly projectId: string;
  /** `interactive` when left out. */
  readonly priority?: TurnPriority;
};

/**
 * How many turns of one project run at the same time, in all processes together: further ones wait. Turns that rest count
 * as well. A turn that is to run alone does not wait for them.
 */
export type RunningLimits = {
  /** Of each project that is not named. Infinity: any number. */
  readonly others: number;
  readonly projects: ReadonlyMap<string, number>;
};

/**
 * Runs a turn. It must complete the attempt or give it back before it returns. If it does neither, or rejects, the queue
 * has the turn tried again after a pause, unless another attempt has it by then. `lost` is aborted when the queue learns that the
 * turn is not this attempt's any more: somebody else has it, or it was withdrawn. A queue of one process never aborts it.
 */
export type TurnHandler = (attempt: TurnAttempt, lost: AbortSignal) => Promise<void>;

export type QueueLimits = {
  /** How many turns run at the same time. */
  readonly slots: number;
  /**
   * Those of the turns handed out that wait for a person: they take no slot. None when left out. Nobody says when it
   * changes: while turns wait, the queue asks again by itself.
   */
  readonly resting?: () => ReadonlySet<string>;
  /**
   * While it answers true nothing further is handed out. It is given how many run now, without those that rest. False when
   * left out. It is asked again as `resting` is, and with `lookAgain`.
   */
  readonly isOverloaded?: (running: number) => boolean;
};

/**
 * Hands out turns that are to be run: each one again and again until an attempt completes it or it is withdrawn. The
 * queue decides nothing about a turn but who tries it next: the epoch that an attempt acquires in the turn log is what
 * protects a turn from an attempt that was replaced.
 *
 * 1. A turn has one attempt at a time, unless the process of the earlier one is silent. It counts as gone then, but may
 *    be frozen or cut off, and go on. In one process the later attempt begins when the earlier one has ended.
 * 2. The number of an attempt is higher than that of each before it, and than `UnfinishedTurn.attempt`: the turn log refuses
 *    a lower one, and takes an equal one for the same attempt.
 * 3. A turn in the store that the queue does not have is found, at the next start at the latest: one of another queue, or
 *    one whose submission ended `unknown`.
 * 4. A transaction that ended `unknown` may be committed. After `submit`, the queue hands the turn out if it is stored.
 *    After `complete` and `withdraw`, it goes on as if nothing had happened: should the turn be over, its next attempt
 *    finds that and completes it.
 */
export interface TurnQueue {
  /**
   * Queues a turn with the transaction that stores it, or not at all. If this rejects, the transaction is rolled back.
   */
  submit(turnId: string, transaction: StoreTransaction, place: QueuePlace): Promise<void>;
  /**
   * Begins to hand out turns, first come first served among those of one priority whose project has room. Called once.
   */
  work(handler: TurnHandler, limits: QueueLimits): void;
  /** Whatever kept it from handing out turns, such as `isOverloaded`, may be over. */
  lookAgain(): void;
  /**
   * Ends an attempt without ending its turn; the next attempt follows as soon as the handler has returned, or after the
   * next start. `isAlone`: the process that takes it runs nothing else beside it but turns that rest, because it may be
   * the turn that its processes die of.
   */
  giveBack(attempt: TurnAttempt, how?: { readonly isAlone?: boolean }): Promise<void>;
  /** Takes a turn out that nobody has to run any more, with the transaction that ends it. */
  withdraw(turnId: string, transaction: StoreTransaction): Promise<void>;
  /**
   * Ends an attempt whose turn is over; with the transaction that ends it, or without one if the turn was over before.
   * False if it is not this attempt that has the turn: the transaction must then be rolled back.
   */
  complete(attempt: TurnAttempt, transaction: StoreTransaction | null): Promise<boolean>;
  /**
   * Hands out nothing any more. Resolves when no handler runs; turns that wait stay for the next start. Never rejects; may
   * be called again, and without `work`.
   */
  drain(): Promise<void>;
  /**
   * The turns that wait, and for how long the first of them has. For a metric: it may be some seconds old, and the age
   * counts from the submission, or from when this process last queued the turn.
   */
  waiting(): { readonly turns: number; readonly oldestMs: number };
}
