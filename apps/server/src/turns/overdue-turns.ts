import { sleep, toErrorInfo } from '@orion/contracts';
import type {
  Clock,
  RunEvent,
  ServedTurn,
  ServedTurns,
  TurnLog,
  TurnQueue,
} from '@orion/contracts';

import { CANCELLED, endTurn } from './turn-end.ts';

export type OverdueTurnsOptions = {
  readonly turns: Pick<ServedTurns, 'overdue'>;
  readonly log: Pick<TurnLog, 'acquire' | 'finish' | 'read'>;
  readonly queue: Pick<TurnQueue, 'withdraw'>;
  readonly clock: Clock;
  /** Sees the events with which turns are ended here. Must not throw. */
  readonly onEvent: (event: RunEvent) => void;
  /** Told of a store that does not answer. Must not throw. */
  readonly onError: (error: unknown) => void;
};

const LOOK_MS = 1_000;
/** An owner that is alive and has a store has ended a turn by then, also one that hangs. */
const OVERDUE_MS = 15_000;
const NEVER_MS = Number.MAX_SAFE_INTEGER;
/** Somebody else has the turn, or has ended it. */
const TAKEN: ReadonlySet<string> = new Set(['FENCED', 'TURN_FINISHED']);

/**
 * Ends turns that were cancelled and that nobody ends: their owner is gone, and no process has room for them. Any
 * process may; of several, one does.
 *
 * 1. An owner that is alive is given the time to end its turn itself, counted from when the store was last away: until
 *    then it could not learn that it is to.
 * 2. A turn that cannot be ended keeps no other one from being ended.
 */
export class OverdueTurns {
  readonly #options: OverdueTurnsOptions;
  readonly #stop = new AbortController();
  #looking: Promise<void> = Promise.resolve();

  constructor(options: OverdueTurnsOptions) {
    this.#options = options;
  }

  start(): void {
    this.#looking = this.#look();
  }

  /** Never rejects. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { turns, clock, onError } = this.#options;
    const { signal } = this.#stop;
    let since = clock.monotonic();
    for (; !signal.aborted; await sleep(clock, LOOK_MS, signal)) {
      const ownedMs = clock.monotonic() - since < OVERDUE_MS ? NEVER_MS : OVERDUE_MS;
      try {
        for (const turn of await turns.overdue(ownedMs)) {
          if (signal.aborted) return;
          await this.#end(turn).catch(onError);
        }
      } catch (error) {
        since = clock.monotonic();
        onError(error);
      }
    }
  }

  async #end(turn: ServedTurn): Promise<void> {
    const { queue } = this.#options;
    try {
      await endTurn(this.#options, turn, {
        attempt: null,
        ending: CANCELLED,
        async complete(transaction) {
          await queue.withdraw(turn.turnId, transaction);
          return true;
        },
      });
    } catch (error) {
      if (!TAKEN.has(toErrorInfo(error).code)) throw error;
    }
  }
}
