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

/** How many turns of one project run at the same time, in all processes together: further ones wait. */
export type RunningLimits = {
  /** Of each project that is not named. Infinity: any number. */
  readonly others: number;
  readonly projects: ReadonlyMap<string, number>;
};

/**
 * Runs a turn. Before it returns it has completed the attempt or given it back; otherwise the queue has the turn tried
 * again after a pause, unless it is another attempt's. `lost` is aborted when the queue has given the turn to somebody else.
 */
export type TurnHandler = (attempt: TurnAttempt, lost: AbortSignal) => Promise<void>;

export type QueueLimits = {
  /** How many turns run at the same time. */
  readonly slots: number;
  /** Those of the turns handed out that wait for a person: they take no slot. None when left out. */
  readonly resting?: () => ReadonlySet<string>;
  /** While it answers true nothing further is handed out. It is given how many run now. False when left out. */
  readonly isOverloaded?: (running: number) => boolean;
};

/**
 * Hands out turns that are to be run: each one again and again until an attempt completes it or it is withdrawn, at
 * most one attempt at a time unless the process of the earlier one is gone.
 *
 * The queue decides nothing about a turn but who tries it next: the epoch that an attempt acquires in the turn log is
 * what protects a turn from an attempt that was replaced.
 */
export interface TurnQueue {
  /** Queues a turn with the transaction that stores it, or not at all. */
  submit(turnId: string, transaction: StoreTransaction, place: QueuePlace): Promise<void>;
  /**
   * Begins to hand out turns, first come first served among those of one priority whose project has room. Called once.
   */
  work(handler: TurnHandler, limits: QueueLimits): void;
  /** Whatever kept it from handing out turns, such as `isOverloaded`, may be over. */
  lookAgain(): void;
  /**
   * Ends an attempt without ending its turn; the next attempt follows at once, or after the next start. `isAlone`: the
   * process that takes it runs nothing else beside it, because it may be the turn that its processes die of.
   */
  giveBack(attempt: TurnAttempt, how?: { readonly isAlone?: boolean }): Promise<void>;
  /** Takes a turn out that nobody has to run any more, with the transaction that ends it. */
  withdraw(turnId: string, transaction: StoreTransaction): Promise<void>;
  /**
   * Ends an attempt whose turn is over; with the transaction that ends it, or without one if the turn was over before.
   * False if it is not this attempt that has the turn: the transaction must then be rolled back.
   */
  complete(attempt: TurnAttempt, transaction: StoreTransaction | null): Promise<boolean>;
  /** Hands out nothing any more. Resolves when no handler runs; turns that wait stay for the next start. */
  drain(): Promise<void>;
  /** The turns that wait for a slot, and for how long the first of them has; a second old at most. */
  waiting(): { readonly turns: number; readonly oldestMs: number };
}
