import type { JsonObject } from './json.ts';
import type { ProtocolName } from './protocol.ts';
import type { TurnFence } from './conversation-store.ts';
import type { TurnStatus } from './run-event.ts';
import type { Mode } from './tools.ts';
import type { TurnLogEvent } from './turn-log.ts';
import type { QueuePlace, StoreTransaction, TurnPriority } from './turn-queue.ts';

/** What a client asks for: one message of a conversation. */
export type TurnSubmission = {
  readonly projectId: string;
  readonly content: string;
  readonly mode: Mode;
  /** Continues a conversation, or names a new one. Null: the latest of the project, or a new one if there is none. */
  readonly conversationId: string | null;
  /** Pinned by a route of its own; null: the settings and the metadata choose. */
  readonly protocol: ProtocolName | null;
  readonly metadata: JsonObject;
  /** `interactive` when left out. */
  readonly priority?: TurnPriority;
};

/**
 * What `Idempotency-Key` names: the first request with this key in its project. The same key with another route or
 * another body is a mistake of the client.
 */
export type RequestKey = {
  readonly key: string;
  readonly route: string;
  /** Of the body in its canonical form, in hexadecimal. */
  readonly bodySha256: string;
};

/** `running`: an owner has it, or had it when its process died. */
export type ServedTurnState = 'queued' | 'running' | 'done';

/** A turn that was submitted to be run from the queue. The turns of a command are none. */
export type ServedTurn = {
  /** The `requestId` of its events, too. */
  readonly turnId: string;
  readonly projectId: string;
  readonly conversationId: string;
  readonly mode: Mode;
  /** The one that was pinned. */
  readonly protocol: ProtocolName | null;
  readonly state: ServedTurnState;
  /** How it ended; null before that. */
  readonly status: TurnStatus | null;
  /** The number of its last event; 0 if there is none. */
  readonly lastSeq: number;
  readonly cancelRequested: boolean;
  /** Milliseconds since the epoch, by the clock of the store. */
  readonly createdAt: number;
  readonly finishedAt: number | null;
};

/** `turnId` and `newConversationId` are new: the second is used if the submission begins a conversation without a name. */
export type NewTurn = TurnSubmission & {
  readonly turnId: string;
  readonly newConversationId: string;
  /** Nothing is limited when left out. */
  readonly allowance?: TurnAllowance;
};

/** What the turns of a project may have come to before another one is refused. */
export type TurnAllowance = {
  /** Turns that wait. */
  readonly queued: number;
  /** Tokens of the turns that ended on this day, by UTC; null for any number. */
  readonly tokensPerDay: number | null;
};

export type SubmitOutcome =
  /** Also for a repeat with the same `turnId`, whatever became of the call before. */
  | { readonly kind: 'stored'; readonly turn: ServedTurn }
  /** The key was used before, for the same request: this is what that one made. */
  | { readonly kind: 'repeated'; readonly turn: ServedTurn }
  /** The key was used before, for another request. */
  | { readonly kind: 'mismatch' }
  /** The conversation has a turn that is not over. */
  | { readonly kind: 'busy'; readonly conversationId: string }
  /** The conversation belongs to another project. */
  | { readonly kind: 'foreign' }
  /** As many turns of the project wait as may. */
  | { readonly kind: 'full' }
  /** The turns of the project have used the tokens of the day, which ends then by the clock of the store. */
  | { readonly kind: 'spent'; readonly dayEndsInMs: number };

/** What an owner is given to run: the submission, with the conversation that was chosen for it. */
export type TurnToRun = Omit<TurnSubmission, 'conversationId'> & {
  readonly turnId: string;
  readonly conversationId: string;
};

/** A turn that is not over, and the last attempt that acquired it; 0 if there was none. */
export type UnfinishedTurn = Required<QueuePlace> & {
  readonly turnId: string;
  readonly attempt: number;
};

/** What the row of a turn says to the owner with this epoch. */
export type OwnerNews = 'owned' | 'cancelled' | 'lost';

export type CancelOutcome =
  /** The owner was asked to end it. */
  | 'requested'
  /** It waited, and is over now. */
  | 'ended'
  /** It was over. */
  | 'finished'
  /** It waits, but not where `end` believed it to be: look again. */
  | 'moved'
  | 'unknown';

/**
 * The turns that clients submit. A turn of a command is not among them, and no queue takes it.
 *
 * A conversation has at most one turn that is not over. A turn is over with its `done` in the turn log. Rejects with
 * STORE_UNAVAILABLE; if that is retryable the outcome may be unknown, and the same call may be repeated.
 */
export interface ServedTurns {
  /**
   * Stores a turn, its key and its place in its conversation, all or nothing. `enqueue` is called in the same
   * transaction, at most once, for a turn that is new; if it rejects, nothing is stored and this rejects with the same.
   */
  submit(
    turn: NewTurn,
    key: RequestKey | null,
    enqueue: (turnId: string, transaction: StoreTransaction) => Promise<void>,
  ): Promise<SubmitOutcome>;
  find(turnId: string): Promise<ServedTurn | null>;
  /** Newest first. `before` is the id of a turn; an unknown one finds nothing. */
  list(filter: ServedTurnFilter): Promise<readonly ServedTurn[]>;
  /** How many are not over, of one project or of all. */
  count(filter: { readonly projectId?: string }): Promise<ServedTurnCounts>;
  /** What the owner of a turn needs; null once the turn is over or if it is unknown. */
  toRun(turnId: string): Promise<TurnToRun | null>;
  /**
   * Sets every turn that is not over back to waiting. For the one process that serves this store, before it runs its
   * first turn: the processes that ran them before are gone.
   */
  reclaim(): Promise<void>;
  /** The turns that wait, in the order of their submission. */
  waiting(): Promise<readonly UnfinishedTurn[]>;
  /**
   * Those that are not over and of which nothing was stored for so long, in the order of their submission: they wait,
   * are silent, or their owner is gone.
   */
  unfinished(filter: { readonly idleMs: number }): Promise<readonly UnfinishedTurn[]>;
  /**
   * Those that are not over although their end was asked for: those that wait, and those of an owner that was asked so
   * long ago and has stored nothing for so long. At most 100.
   */
  overdue(ownedMs: number): Promise<readonly ServedTurn[]>;
  /** The owner gives a turn back: it waits again. Changes nothing if the owner has lost it. */
  release(owner: TurnFence): Promise<void>;
  /** Looks at the rows of these owners' turns, in their order. */
  look(owners: readonly TurnFence[]): Promise<readonly OwnerNews[]>;
  /**
   * Asks for the end of a turn. One that waits and whose last event is `end.afterSeq` is ended by this call, with
   * `end.events` and without an owner; `withdraw` is called in the same transaction.
   */
  cancel(
    turnId: string,
    end: { readonly afterSeq: number; readonly events: readonly TurnLogEvent[] },
    withdraw: (turnId: string, transaction: StoreTransaction) => Promise<void>,
  ): Promise<CancelOutcome>;
}

export type ServedTurnCounts = {
  readonly queued: number;
  readonly running: number;
  /** For how long the first of the queued ones has been, by the clock of the store; 0 if there is none. */
  readonly oldestQueuedMs: number;
};

export type ServedTurnFilter = {
  readonly state?: ServedTurnState;
  readonly projectId?: string;
  readonly limit: number;
  readonly before?: string;
};

/** Keys of requests that make something else than a turn. Kept for 24 hours by the clock of the store. */
export interface RequestKeys {
  /**
   * Takes a key for what is about to be made, named by `made`. `repeated` names what the first request with this key
   * has made or was about to make. A key that was taken for `unmade`, of which the caller knows that it does not exist,
   * is free.
   */
  claim(projectId: string, key: RequestKey, made: string, unmade?: string): Promise<KeyOutcome>;
}

export type KeyOutcome =
  | { readonly kind: 'new' }
  | { readonly kind: 'repeated'; readonly made: string }
  /** The key was taken by another request: its route, and what that made or was about to make. */
  | { readonly kind: 'mismatch'; readonly route: string; readonly made: string };

/** The right of one process to run the turns of a store. */
export type ServingHold = {
  /**
   * Nobody else had it when it was taken: what says that it runs was probably left behind. After an outage, others may
   * not have taken it again yet.
   */
  readonly isOnly: boolean;
  /** Aborted when another process has it, as it may after a broken connection to the database. */
  readonly lost: AbortSignal;
  /** Says where the server listens, to those that find the store held. */
  announce(url: string): Promise<void>;
  release(): Promise<void>;
};
