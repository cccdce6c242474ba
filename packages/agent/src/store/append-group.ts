import { OrionError } from '@orion/contracts';
import type { AppendOutcome, Clock, TurnAppend, TurnLog } from '@orion/contracts';

/** The events of all turns are collected for so long, in milliseconds. */
export const COLLECT_MS = 50;
/** Pauses before a statement is repeated whose outcome is unknown. */
const RETRY_MS: readonly number[] = [50, 200, 500, 1000];

/** A turn that has something to store. */
export interface GroupMember {
  /** What is to be stored now. It stays the same until it is answered. */
  take(): TurnAppend;
  answered(outcome: AppendOutcome): void;
  /** The store cannot be used any more. */
  failed(error: unknown): void;
}

/**
 * Stores the events of all owned turns of a process with one statement at a time.
 *
 * 1. A turn is in a statement once, and in no two at a time.
 * 2. A statement whose outcome is unknown is repeated until it is answered: nothing is dropped.
 * 3. What is urgent takes everything along that is there, and does not wait for the collecting time.
 */
export class AppendGroup {
  readonly #log: Pick<TurnLog, 'appendAll'>;
  readonly #clock: Clock;
  readonly #members = new Set<GroupMember>();
  #isUrgent = false;
  #isStoring = false;
  #cancelTimer: (() => void) | null = null;

  constructor(log: Pick<TurnLog, 'appendAll'>, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Takes the turn into the next statement. */
  add(member: GroupMember, { urgent }: { readonly urgent: boolean }): void {
    this.#members.add(member);
    this.#isUrgent ||= urgent;
    this.#schedule();
  }

  /** The turn has ended, or is lost: it has nothing to store any more. */
  remove(member: GroupMember): void {
    this.#members.delete(member);
    if (this.#members.size === 0) this.#stopTimer();
  }

  #schedule(): void {
    if (this.#isStoring || this.#members.size === 0) return;
    if (this.#isUrgent) void this.#store();
    else this.#cancelTimer ??= this.#clock.schedule(COLLECT_MS, () => void this.#store());
  }

  #stopTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  /** Never rejects. */
  async #store(): Promise<void> {
    this.#stopTimer();
    this.#isStoring = true;
    // Whoever asks in this moment comes along.
    await Promise.resolve();
    this.#isUrgent = false;
    const members = [...this.#members];
    this.#members.clear();
    try {
      const outcomes = await this.#append(members.map((member) => member.take()));
      for (const [index, member] of members.entries()) {
        member.answered(outcomes[index] ?? { kind: 'fenced' });
      }
    } catch (error) {
      for (const member of members) member.failed(error);
    }
    this.#isStoring = false;
    this.#schedule();
  }

  async #append(appends: readonly TurnAppend[]): Promise<readonly AppendOutcome[]> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#log.appendAll(appends);
      } catch (error) {
        if (!OrionError.isInstance(error) || !error.retryable) throw error;
      }
      const pause = RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)] ?? 0;
      await new Promise<void>((resolve) => {
        this.#clock.schedule(pause, resolve);
      });
    }
  }
}
