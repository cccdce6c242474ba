import type { JsonValue } from './json.ts';

/** One stored event of a turn. `seq` is the number that every reader sees: 1, 2, 3 … without a gap. */
export type TurnLogEvent = {
  readonly seq: number;
  readonly kind: string;
  readonly data: JsonValue;
};

export type TurnLogEntry = TurnLogEvent & {
  readonly turnId: string;
  /** Of the writer that appended it. */
  readonly epoch: number;
  /** Milliseconds since the epoch, when it was stored. */
  readonly storedAt: number;
};

/**
 * The durable, numbered events of turns: what lets a reader resume and another process take over.
 *
 * A turn has one writer at a time. A writer takes the turn with a higher epoch than any before it; from then on
 * every append with a lower one is refused. Rejects with FENCED (another writer has taken the turn),
 * TURN_LOG_GAP (events are missing before these) and STORE_UNAVAILABLE (nothing is known of the outcome: repeat the
 * same append).
 */
export interface TurnLog {
  /** Accepted only if `epoch` is higher than the turn's; a new turn has epoch 0. */
  acquire(turnId: string, epoch: number): Promise<void>;
  /**
   * Appends events that follow each other, the first numbered `expectSeq`. A repeat of an append that already went in
   * is recognised and changes nothing. Returns the last number of the turn.
   */
  append(
    turnId: string,
    epoch: number,
    expectSeq: number,
    events: readonly TurnLogEvent[],
  ): Promise<number>;
  /** The events after `afterSeq`, in order; at most `limit`, 1,000 when left out. */
  read(turnId: string, afterSeq: number, limit?: number): Promise<readonly TurnLogEntry[]>;
  /** The events after `afterSeq` as they are stored, until one of the kind `done` or the abort of `signal`. */
  tail(turnId: string, afterSeq: number, signal: AbortSignal): AsyncIterable<TurnLogEntry>;
  /** The current epoch, 0 for a turn that nobody has taken. */
  epochOf(turnId: string): Promise<number>;
}
