/**
 * Stores what the sessions of a process have, with one statement at a time.
 *
 * G1. A session is in a statement once, and in no two at a time.
 * G2. A session that has something to store is in a statement within HAND_OVER_MS, or as soon as the one before is
 *     answered. One that waits for it (`urgent`) takes the others along.
 * G3. A statement that failed is not repeated by itself: each session decides.
 */
import type { Clock, SessionAppend, SessionAppended, SessionContent } from '@orion/contracts';
import { HAND_OVER_MS } from '../session-dir/text-spool.ts';

export interface GroupMember {
  /** What is to be stored now; null if nothing is. */
  take(): SessionAppend | null;
  answered(outcome: SessionAppended): void;
  failed(error: unknown): void;
}

/** Bytes of sessions in one statement, after which the others wait for the next. */
const MAX_BYTES = 4 * 1024 * 1024;

export class SessionGroup {
  readonly #content: Pick<SessionContent, 'append'>;
  readonly #clock: Clock;
  readonly #members = new Set<GroupMember>();
  #isUrgent = false;
  #storing: Promise<void> | null = null;
  #cancelFlush: (() => void) | null = null;

  constructor(content: Pick<SessionContent, 'append'>, clock: Clock) {
    this.#content = content;
    this.#clock = clock;
  }

  add(member: GroupMember, { urgent }: { readonly urgent: boolean }): void {
    this.#members.add(member);
    this.#isUrgent ||= urgent;
    this.#schedule();
  }

  remove(member: GroupMember): void {
    this.#members.delete(member);
    if (this.#members.size === 0) this.#stopTimer();
  }

  /** Waits for the statement that is under way, not for the next one, which may begin at once. */
  async settled(): Promise<void> {
    await this.#storing;
  }

  #schedule(): void {
    if (this.#storing !== null || this.#members.size === 0) return;
    if (this.#isUrgent) this.#start();
    else this.#cancelFlush ??= this.#clock.schedule(HAND_OVER_MS, () => this.#start());
  }

  #stopTimer(): void {
    this.#cancelFlush?.();
    this.#cancelFlush = null;
  }

  #start(): void {
    this.#stopTimer();
    if (this.#storing !== null) return;
    this.#storing = this.#store().finally(() => {
      this.#storing = null;
      this.#schedule();
    });
  }

  /** Never rejects. */
  async #store(): Promise<void> {
    // Whoever asks in this moment comes along.
    await Promise.resolve();
    this.#isUrgent = false;
    const members: GroupMember[] = [];
    const appends: SessionAppend[] = [];
    let bytes = 0;
    for (const member of this.#members) {
      if (bytes > MAX_BYTES) break;
      this.#members.delete(member);
      const append = member.take();
      if (append === null) continue;
      members.push(member);
      appends.push(append);
      for (const piece of Object.values(append.pieces)) bytes += piece.bytes.length;
    }
    if (appends.length === 0) return;
    try {
      const outcomes = await this.#content.append(appends);
      for (const [index, member] of members.entries())
        member.answered(outcomes[index] ?? { kind: 'fenced' });
    } catch (error) {
      for (const member of members) member.failed(error);
    }
  }
}
