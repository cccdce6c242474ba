import { OrionError } from '@orion/contracts';
import type { AppendOutcome, Clock, TurnAppend, TurnLog } from '@orion/contracts';

import { flushInterval, turnsToAsk } from './flush-plan.ts';

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
 * 3. Flushes are an interval apart: one that follows a pause begins at once. Turns that hold text are asked for it right
 *    before, so that it is held once and not a second time for the others; and now and then while a statement is under
 *    way, which stores it in the next one.
 * 4. What is urgent takes everything along that is there, waits for no flush, and does not put one off.
 */
export class AppendGroup {
  readonly #log: Pick<TurnLog, 'appendAll'>;
  readonly #clock: Clock;
  readonly #members = new Set<GroupMember>();
  /** What is called right before the next flush. */
  readonly #holding = new Set<() => void>();
  #isUrgent = false;
  #isStoring = false;
  /** Turns have been asked for their text. */
  #isFlushing = false;
  #cancelFlush: (() => void) | null = null;
  #flushedAt = Number.NEGATIVE_INFINITY;

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
    this.#stopIfIdle();
  }

  /** Calls back when text is to be passed on for the next flush; null when that is now. The answer takes it back. */
  beforeFlush(callback: () => void): (() => void) | null {
    return this.#isFlushing ? null : this.atFlush(callback);
  }

  /** The same, but one that has begun is not the next. */
  atFlush(callback: () => void): (() => void) | null {
    if (!this.#isStoring && this.#untilFlush() <= 0) return null;
    this.#holding.add(callback);
    this.#schedule();
    return () => {
      this.#holding.delete(callback);
      this.#stopIfIdle();
    };
  }

  #untilFlush(): number {
    const interval = flushInterval({ isStoring: this.#isStoring });
    return this.#flushedAt + interval - this.#clock.monotonic();
  }

  #schedule(): void {
    if (this.#isUrgent && !this.#isStoring) void this.#store();
    else if (this.#members.size > 0 || this.#holding.size > 0)
      this.#cancelFlush ??= this.#clock.schedule(this.#untilFlush(), () => this.#flush());
  }

  #stopIfIdle(): void {
    if (this.#members.size === 0 && this.#holding.size === 0) this.#stopTimer();
  }

  #stopTimer(): void {
    this.#cancelFlush?.();
    this.#cancelFlush = null;
  }

  #flush(): void {
    this.#cancelFlush = null;
    this.#isFlushing = true;
    const now = this.#clock.monotonic();
    const asked = turnsToAsk(this.#holding.size, now - this.#flushedAt);
    this.#flushedAt = now;
    for (const callback of [...this.#holding].slice(0, asked)) {
      this.#holding.delete(callback);
      callback();
    }
    // A tick that a microtask asks for comes behind all others: by then they have passed on what they held.
    queueMicrotask(() => process.nextTick(() => this.#storeFlush()));
  }

  #storeFlush(): void {
    this.#isFlushing = false;
    this.#isUrgent ||= this.#members.size > 0;
    this.#schedule();
  }

  /** Never rejects. */
  async #store(): Promise<void> {
    this.#isStoring = true;
    // Whoever asks in this moment comes along.
    await Promise.resolve();
    this.#isUrgent = false;
    const members = [...this.#members];
    this.#members.clear();
    this.#reschedule();
    try {
      const outcomes = await this.#append(members.map((member) => member.take()));
      for (const [index, member] of members.entries()) {
        member.answered(outcomes[index] ?? { kind: 'fenced' });
      }
    } catch (error) {
      for (const member of members) member.failed(error);
    }
    this.#isStoring = false;
    this.#reschedule();
  }

  #reschedule(): void {
    this.#stopTimer();
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
