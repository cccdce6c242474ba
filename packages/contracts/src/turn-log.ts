import type { ConversationSave } from './conversation-store.ts';
import type { JsonValue } from './json.ts';
import type { TurnPosition } from './turn-position.ts';
import type { CompleteAttempt } from './turn-queue.ts';

/** One stored event of a turn. `seq` is the number that every reader sees: 1, 2, 3 … without a gap. */
export type TurnLogEvent = {
  readonly seq: number;
  readonly kind: string;
  readonly data: JsonValue;
};

export type TurnLogEntry = TurnLogEvent & {
  readonly turnId: string;
  /** Of the owner that appended it. */
  readonly epoch: number;
  /** Milliseconds since the epoch, by the store's clock, when it was stored. */
  readonly storedAt: number;
};

/** What an owner of a turn is given: the number that each of its writes carries, and where the turn is. */
export type TurnClaim = {
  readonly turnId: string;
  /** Higher than any before it. No other owner is given the same one, not even by a copy of the store. */
  readonly epoch: number;
  /** The number of the last event; 0 if there is none. */
  readonly lastSeq: number;
  /** The newest checkpoint that was stored; null if there is none. */
  readonly checkpoint: JsonValue;
  /**
   * Attempts since that checkpoint was stored, this one included, but for those that gave the turn back; the first
   * checkpoint of a turn does not count. The turn of a process that dies again and again in the same place is known by
   * it.
   */
  readonly idleAttempts: number;
};

/** Consecutive events of one turn; none for an owner that only asks whether the turn is still its own. */
export type TurnAppend = {
  readonly turnId: string;
  readonly epoch: number;
  /** The number of the first event. */
  readonly expectSeq: number;
  readonly events: readonly TurnLogEvent[];
  /** Where the next owner would continue after these events; the earlier one stays if this is left out. */
  readonly checkpoint?: JsonValue;
};

export type AppendOutcome =
  | {
      readonly kind: 'stored';
      readonly lastSeq: number;
      /** Whether somebody has asked for the end of this turn. */
      readonly cancelRequested: boolean;
    }
  /** Another owner has acquired the turn. */
  | { readonly kind: 'fenced' }
  /** The turn is over. */
  | { readonly kind: 'finished' }
  /** The events do not follow the turn's last one. */
  | { readonly kind: 'gap'; readonly lastSeq: number }
  /** The store cannot keep these events, now or later. */
  | { readonly kind: 'refused'; readonly message: string };

export type FinishOutcome =
  | Exclude<AppendOutcome, { kind: 'stored' }>
  /** With the revision that the conversation has now; null without one, and where a repeat found both stored. */
  | { readonly kind: 'stored'; readonly lastSeq: number; readonly revision: number | null }
  | { readonly kind: 'stale' };

export type FollowedTurn = {
  readonly turnId: string;
  readonly after: TurnPosition;
  /** Whoever follows has found it in the store. False when left out: one that is not there may come. */
  readonly isFound?: boolean;
};

export type TurnNews =
  | { readonly kind: 'event'; readonly entry: TurnLogEntry }
  /** The log is no longer what the reader has read of this turn. It forgets that; all events follow from the first. */
  /** `isFolded`: the log keeps a part only, and begins with a reset for whoever asks from later on. */
  | { readonly kind: 'reset'; readonly turnId: string; readonly isFolded: boolean };

/**
 * The durable, numbered events of turns, which let readers resume and other processes take over.
 *
 * A turn has one owner at a time, known by its epoch. After an acquire, nothing of an earlier owner is stored; after an
 * event of the kind `done`, nothing at all. Rejects with FENCED (another owner has acquired the turn), TURN_FINISHED
 * (it is over), TURN_LOG_GAP (earlier events are missing) and STORE_UNAVAILABLE (the outcome is unknown: repeat the
 * same call).
 */
export interface TurnLog {
  /**
   * Takes the turn from its owner, or begins it. `attempt` counts the attempts of a queue to run the turn: an acquire
   * is refused once a later attempt has acquired. Null stands outside of that count, for a caller that ends the turn.
   * With `mayBegin: false` (the default is true), rejects with TURN_NOT_FOUND if the store does not have the turn: after a
   * failover to a standby that was behind, its submission may be lost.
   */
  acquire(
    turnId: string,
    attempt: number | null,
    options?: { readonly mayBegin?: boolean },
  ): Promise<TurnClaim>;
  /**
   * Appends consecutive events, the first numbered `expectSeq`. Repeating an append that succeeded changes nothing.
   * Returns the last number of the turn.
   */
  append(
    turnId: string,
    epoch: number,
    expectSeq: number,
    events: readonly TurnLogEvent[],
  ): Promise<number>;
  /**
   * The same for many turns at once, each with an outcome of its own, in the order of `appends`. What one turn is
   * refused changes nothing for the others.
   */
  appendAll(appends: readonly TurnAppend[]): Promise<readonly AppendOutcome[]>;
  /**
   * Stores the last events of a turn and its conversation, and ends the attempt that a queue has handed out: all of it
   * or nothing. A conversation that is stale keeps the events from being stored, too; without the attempt the owner is
   * fenced. A repeat of what was stored completes nothing again.
   */
  finish(
    append: TurnAppend,
    conversation: ConversationSave | null,
    complete?: CompleteAttempt,
  ): Promise<FinishOutcome>;
  /** Asks the owner to end the turn; it learns of it with its next append. False if the turn is over or unknown. */
  requestCancel(turnId: string): Promise<boolean>;
  /** The events after `afterSeq` in order, at most `limit`. `limit` defaults to 1,000. */
  read(turnId: string, afterSeq: number, limit?: number): Promise<readonly TurnLogEntry[]>;
  /**
   * The events of these turns as they are stored, those of each turn in their order, until each turn is over or
   * `signal` is aborted. A turn whose log does not fit the reader's position begins with a reset, and so does one of
   * which only the end and the receipts were kept. Rejects with TURN_NOT_FOUND when a turn that was found is gone, as
   * after a failover that took back that it was submitted.
   */
  follow(turns: readonly FollowedTurn[], signal: AbortSignal): AsyncIterable<TurnNews>;
  /** `follow` for one turn, without its resets: after one, numbers begin again at 1. */
  tail(turnId: string, afterSeq: number, signal: AbortSignal): AsyncIterable<TurnLogEntry>;
  /** The current epoch; 0 if no owner has acquired the turn. */
  epochOf(turnId: string): Promise<number>;
}
