import { OrionError } from '@orion/contracts';
import type { ClaimedSession, Clock, SessionHandle, SessionRecord } from '@orion/contracts';

import type { KeptBytes } from './session-view.ts';

/** A session that this process has between two calls. */
export type KeptSession = { readonly handle: SessionHandle; readonly record: SessionRecord | null };

export type KeptSessionsOptions = {
  readonly claim: (sessionId: string) => Promise<ClaimedSession>;
  readonly clock: Clock;
  /** After this time without a call a session is released, in milliseconds. */
  readonly idleMs: number;
  /** How many are kept; beyond it, the one that was idle for longest is released. */
  readonly most: number;
};

/** `isLook`: the call changes nothing and is over soon. */
type Use = { readonly over: Promise<void>; readonly isLook: boolean };

/**
 * The sessions that nobody uses at the moment, but whose lease and open files this process keeps for the next call.
 *
 * K1  One call at a time has a session; another one is refused at once. A call that only looks is waited for instead.
 * K2  A session that is not kept is claimed from the disk, so that a call may come after any pause, and to any process.
 * K3  A session that was lost to another process is never used again.
 */
export class KeptSessions {
  readonly #options: KeptSessionsOptions;
  /** The one that was used last is the last. */
  readonly #kept = new Map<string, KeptSession>();
  readonly #timers = new Map<string, () => void>();
  /** What each session is used for now. */
  readonly #used = new Map<string, Use>();
  /** Those that are being released for want of a call: the next call waits for it. */
  readonly #leaving = new Map<string, Promise<void>>();
  #closed = false;

  constructor(options: KeptSessionsOptions) {
    this.#options = options;
  }

  /** Runs `work` while nobody else has the session. Rejects with SESSION_BUSY. */
  async exclusively<Result>(
    sessionId: string,
    work: () => Promise<Result>,
    { isLook = false }: { readonly isLook?: boolean } = {},
  ): Promise<Result> {
    for (;;) {
      const use = this.#used.get(sessionId);
      if (use?.isLook !== true) break;
      await use.over;
    }
    if (this.#closed) throw stopping();
    if (this.#used.has(sessionId)) throw busy(sessionId);
    const { promise: over, resolve } = Promise.withResolvers<void>();
    this.#used.set(sessionId, { over, isLook });
    this.#cancelTimer(sessionId);
    try {
      await this.#leaving.get(sessionId);
      return await work();
    } finally {
      this.#used.delete(sessionId);
      resolve();
      if (this.#kept.has(sessionId)) this.#keepOn(sessionId);
    }
  }

  isKept(sessionId: string): boolean {
    return this.#kept.get(sessionId)?.handle.lost.aborted === false;
  }

  isUsed(sessionId: string): boolean {
    return this.#used.has(sessionId);
  }

  /** Null if it is not kept. */
  bytesOf(sessionId: string): KeptBytes | null {
    const kept = this.#kept.get(sessionId);
    if (kept === undefined || kept.handle.lost.aborted) return null;
    return { arrived: kept.handle.bytes(), saved: kept.handle.durableBytes() };
  }

  /** For the call that has the session: the one that is kept, or a claimed one. */
  async take(sessionId: string): Promise<KeptSession | ClaimedSession> {
    const kept = this.#kept.get(sessionId);
    if (kept !== undefined && !kept.handle.lost.aborted) return kept;
    await this.giveBack(sessionId);
    return this.#options.claim(sessionId);
  }

  /** For the call that has the session: keeps it in this state. */
  keep(handle: SessionHandle, record: SessionRecord | null): void {
    this.#kept.delete(handle.id);
    this.#kept.set(handle.id, { handle, record });
  }

  /** For the call that has the session: releases it, or moves it away with `leave`. */
  async giveBack(
    sessionId: string,
    leave: (handle: SessionHandle) => Promise<unknown> = (handle) => handle.release(),
  ): Promise<void> {
    const kept = this.#kept.get(sessionId);
    this.#kept.delete(sessionId);
    if (kept !== undefined) await leave(kept.handle);
  }

  /** Waits for the calls that are running, and releases everything. Never rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(Array.from(this.#used.values(), ({ over }) => over));
    for (const sessionId of this.#kept.keys()) this.#leave(sessionId);
    await Promise.all(this.#leaving.values());
  }

  #keepOn(sessionId: string): void {
    const { clock, idleMs, most } = this.#options;
    if (this.#closed) return;
    this.#timers.set(
      sessionId,
      clock.schedule(idleMs, () => this.#leave(sessionId)),
    );
    const idle = [...this.#kept.keys()].filter((each) => !this.#used.has(each));
    for (const each of idle.slice(0, Math.max(0, this.#kept.size - most))) this.#leave(each);
  }

  #leave(sessionId: string): void {
    this.#cancelTimer(sessionId);
    const left = this.giveBack(sessionId)
      // What could not be saved stays as it was saved before; a lease runs out by itself.
      .catch(() => undefined)
      .finally(() => this.#leaving.delete(sessionId));
    this.#leaving.set(sessionId, left);
  }

  #cancelTimer(sessionId: string): void {
    this.#timers.get(sessionId)?.();
    this.#timers.delete(sessionId);
  }
}

function busy(sessionId: string): OrionError {
  return new OrionError({
    code: 'SESSION_BUSY',
    message: `Another request uses the write session ${sessionId}.`,
    hint: 'Try again when it has ended.',
    retryable: true,
    details: { session_id: sessionId },
  });
}

function stopping(): OrionError {
  return new OrionError({
    code: 'SERVER_STOPPING',
    message: 'This process is about to end and takes no more calls.',
    retryable: true,
  });
}
