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
 * The durable, numbered events of turns, which let readers resume and other processes take over.
 *
 * A turn has one writer at a time. A writer acquires the turn with a higher epoch than any before; from then on,
 * appends with a lower epoch are rejected. Rejects with FENCED (another writer has acquired the turn), TURN_LOG_GAP
 * (earlier events are missing) and STORE_UNAVAILABLE (the outcome is unknown: repeat the same append).
 */
export interface TurnLog {
  /** Accepted only if `epoch` is higher than the turn's; a new turn has epoch 0. */
  acquire(turnId: string, epoch: number): Promise<void>;
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
  /** The events after `afterSeq` in order, at most `limit`. `limit` defaults to 1,000. */
  read(turnId: string, afterSeq: number, limit?: number): Promise<readonly TurnLogEntry[]>;
  /** The events after `afterSeq` as they are stored, until one of the kind `done` or the abort of `signal`. */
  tail(turnId: string, afterSeq: number, signal: AbortSignal): AsyncIterable<TurnLogEntry>;
  /** The current epoch; 0 if no writer has acquired the turn. */
  epochOf(turnId: string): Promise<number>;
}
